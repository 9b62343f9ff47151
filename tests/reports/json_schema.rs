//! Whether a document is what a JSON schema (draft 7) says: as much of the language as SARIF's schema needs. What isn't known
//! here is an error and not passed over, so nothing that the schema asks for goes unasked.

use serde_json::Value;

/// What says something about documents to readers only. (`format` does to checkers that know it, and [`has_format`] does.)
const REMARKS: [&str; 5] = ["description", "title", "default", "$schema", "$id"];

/// Everything in which a document isn't what the schema says, each with the place.
pub fn differences(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, document, "", &mut found);
    found
}

/// `schema` is a part of `whole`, and `value` lies at `place`.
fn check(whole: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(target) = schema.get("$ref") {
        let pointer =
            target.as_str().and_then(|target| target.strip_prefix('#')).expect("a part of this schema");
        return check(whole, whole.pointer(pointer).expect(pointer), value, place, found);
    }
    let schema = schema.as_object().expect("an object");
    for (word, wanted) in schema {
        let is_right = match word.as_str() {
            "type" => has_type(value, wanted.as_str().expect("one type")),
            "enum" => wanted.as_array().expect("values").contains(value),
            "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().expect("a number")),
            "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().expect("a number")),
            "minItems" => {
                value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().expect("a number"))
            }
            "uniqueItems" => {
                let unique =
                    |items: &Vec<Value>| (1..items.len()).all(|at| !items[..at].contains(&items[at]));
                wanted == false || value.as_array().is_none_or(unique)
            }
            "required" => wanted.as_array().expect("names").iter().all(|name| {
                value.as_object().is_none_or(|object| object.contains_key(name.as_str().expect("a name")))
            }),
            "anyOf" => alternatives(whole, wanted, value, place) >= 1,
            "oneOf" => alternatives(whole, wanted, value, place) == 1,
            "format" => value.as_str().is_none_or(|text| has_format(text, wanted.as_str().expect("a name"))),
            // Regular expressions would need one who reads them; no document has had such a text.
            "pattern" => !value.is_string(),
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(whole, wanted, item, &format!("{place}/{number}"), found);
                }
                true
            }
            "properties" | "additionalProperties" => true,
            word if REMARKS.contains(&word) || (word == "definitions" && place.is_empty()) => true,
            _ => false,
        };
        if !is_right {
            found.push(format!("{place}: {word} {wanted}"));
        }
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let place = format!("{place}/{name}");
        let own = schema.get("properties").and_then(|properties| properties.get(name));
        match own.or_else(|| schema.get("additionalProperties")) {
            None | Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => found.push(format!("{place}: not known")),
            Some(schema) => check(whole, schema, value, &place, found),
        }
    }
}

/// How many of several schemas a value is right by.
fn alternatives(whole: &Value, schemas: &Value, value: &Value, place: &str) -> usize {
    let is_right = |schema: &&Value| {
        let mut found = Vec::new();
        check(whole, schema, value, place, &mut found);
        found.is_empty()
    };
    schemas.as_array().expect("schemas").iter().filter(is_right).count()
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => false,
    }
}

/// URIs by their characters (RFC 3986). Times and the like are not known.
fn has_format(text: &str, name: &str) -> bool {
    let has_scheme = || {
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|next| next.is_ascii_alphanumeric() || "+-.".contains(next))
    };
    let is_reference = || {
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            let is_right = match byte {
                b'%' => (0..2).all(|_| bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit())),
                _ => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte),
            };
            if !is_right {
                return false;
            }
        }
        true
    };
    match name {
        "uri" => has_scheme() && is_reference(),
        "uri-reference" => is_reference(),
        _ => false,
    }
}
