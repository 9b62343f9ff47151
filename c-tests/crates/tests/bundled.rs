//! Work for the C code of each crate, with results that are known or that must come back as they went in.

use std::io::{Read, Write};

/// Bytes that compress, but not too well; the same in every run.
fn sample(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let words = ["iteration ", "dependence ", "distance ", "conflict ", "commit ", "0123456789 "];
    let mut bytes = Vec::with_capacity(length + 16);
    while bytes.len() < length {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let pick = (state >> 40) as usize;
        bytes.extend_from_slice(words[pick % words.len()].as_bytes());
        bytes.push((pick >> 8) as u8);
    }
    bytes.truncate(length);
    bytes
}

/// Bytes that are packed, and how many where `SAMPLE_LENGTH` says so: where each loop is handed to threads, a hundred times as long is waited for as is computed.
fn length() -> usize {
    std::env::var("SAMPLE_LENGTH").map_or(3 << 20, |length| length.parse().unwrap())
}

#[test]
fn zlib() {
    let data = sample(length());
    for level in [1, 6, 9] {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
        encoder.write_all(&data).unwrap();
        let packed = encoder.finish().unwrap();
        assert!(packed.len() < data.len());
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut back).unwrap();
        assert!(back == data, "level {level}");
    }
    let mut crc = flate2::Crc::new();
    crc.update(b"123456789");
    assert_eq!(crc.sum(), 0xcbf4_3926);
}

#[test]
fn zstd() {
    let data = sample(length());
    for level in [1, 3, 9, 19] {
        let packed = zstd::encode_all(&data[..], level).unwrap();
        assert!(packed.len() < data.len() / 2);
        assert!(zstd::decode_all(&packed[..]).unwrap() == data, "level {level}");
    }
    let samples: Vec<Vec<u8>> = (0..200).map(|n| sample(2000 + n)).collect();
    assert!(!zstd::dict::from_samples(&samples, 4096).unwrap().is_empty());
}

#[test]
fn lua() {
    let lua = mlua::Lua::new();
    let sum: i64 = lua
        .load(
            "local t = {} for i = 1, 20000 do t[i] = (i * 7919) % 10007 end table.sort(t) \
             local s = 0 for i, v in ipairs(t) do s = s + i * v end return s",
        )
        .eval()
        .unwrap();
    let mut numbers: Vec<i64> = (1..=20000).map(|i| (i * 7919) % 10007).collect();
    numbers.sort_unstable();
    assert_eq!(sum, numbers.iter().zip(1..).map(|(v, i)| i * v).sum::<i64>());
    let text: String = lua.load("return (('x'):rep(1000):gsub('x', '%0y')):sub(-4) .. string.format('%5.2f', math.pi)").eval().unwrap();
    assert_eq!(text, "xyxy 3.14");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite() {
    let mut db = rusqlite::Connection::open_in_memory().unwrap();
    db.execute_batch("create table t(id integer primary key, name text, weight real); create index i on t(name);").unwrap();
    let transaction = db.transaction().unwrap();
    for n in 0..20000i64 {
        let name = format!("name {}", n * 7919 % 5003);
        transaction.execute("insert into t(name, weight) values (?1, ?2)", rusqlite::params![name, n as f64 / 8.0]).unwrap();
    }
    transaction.commit().unwrap();
    let (count, sum): (i64, f64) =
        db.query_row("select count(distinct name), sum(weight) from t", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!((count, sum), (5003, (0..20000).map(|n| n as f64 / 8.0).sum()));
    let best: String = db
        .query_row("select name from t group by name order by count(*) desc, name limit 1", [], |row| row.get(0))
        .unwrap();
    assert_eq!(best, "name 0");
    let check: String = db.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn lz4() {
    let data = sample(length());
    for level in [1, 9] {
        let mut encoder = lz4::EncoderBuilder::new().level(level).build(Vec::new()).unwrap();
        encoder.write_all(&data).unwrap();
        let (packed, done) = encoder.finish();
        done.unwrap();
        let mut back = Vec::new();
        lz4::Decoder::new(&packed[..]).unwrap().read_to_end(&mut back).unwrap();
        assert!(back == data, "level {level}");
    }
}

#[test]
fn bzip2() {
    let data = sample(length() / 2);
    let mut packed = Vec::new();
    bzip2::read::BzEncoder::new(&data[..], bzip2::Compression::best()).read_to_end(&mut packed).unwrap();
    let mut back = Vec::new();
    bzip2::read::BzDecoder::new(&packed[..]).read_to_end(&mut back).unwrap();
    assert!(back == data && packed.len() < data.len() / 2);
}

#[test]
fn lzma() {
    let data = sample(length() / 16);
    let mut packed = Vec::new();
    xz2::read::XzEncoder::new(&data[..], 6).read_to_end(&mut packed).unwrap();
    let mut back = Vec::new();
    xz2::read::XzDecoder::new(&packed[..]).read_to_end(&mut back).unwrap();
    assert!(back == data && packed.len() < data.len() / 2);
}

#[test]
fn oniguruma() {
    let text = String::from_utf8_lossy(&sample(100_000)).into_owned();
    let found = onig::Regex::new(r"(?i)\b(dep\w+|con(?=flict)\w*)").unwrap().find_iter(&text).count();
    let expected = text.matches("dependence").count() + text.matches("conflict").count();
    // A word character in front of a word takes the boundary away.
    assert!(found > expected / 3 && found <= expected, "{found} of {expected}");
    assert_eq!(onig::Regex::new("(a+)(b?)").unwrap().captures("xaaab").unwrap().at(1), Some("aaa"));
}

#[test]
fn libdeflate() {
    let data = sample(length());
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::best());
    let mut packed = vec![0; compressor.zlib_compress_bound(data.len())];
    let length = compressor.zlib_compress(&data, &mut packed).unwrap();
    let mut back = vec![0; data.len()];
    libdeflater::Decompressor::new().zlib_decompress(&packed[..length], &mut back).unwrap();
    assert!(back == data);
    // zlib reads what libdeflate wrote.
    let mut by_zlib = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..length]).read_to_end(&mut by_zlib).unwrap();
    assert!(by_zlib == data);
}

#[test]
fn secp256k1() {
    let secp = secp256k1::Secp256k1::new();
    let secret = secp256k1::SecretKey::from_slice(&[0x11; 32]).unwrap();
    let public = secp256k1::PublicKey::from_secret_key(&secp, &secret);
    assert_eq!(public.to_string(), "034f355bdcb7cc0af728ef3cceb9615d90684bb5b2ca5f859ab0f0b704075871aa");
    let message = secp256k1::Message::from_digest([0x5a; 32]);
    let signature = secp.sign_ecdsa(&message, &secret);
    secp.verify_ecdsa(&message, &signature, &public).unwrap();
    assert!(secp.verify_ecdsa(&secp256k1::Message::from_digest([0x5b; 32]), &signature, &public).is_err());
}

#[test]
fn tree_sitter() {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).unwrap();
    let text = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n".repeat(500);
    let tree = parser.parse(&text, None).unwrap();
    assert!(!tree.root_node().has_error());
    assert_eq!(tree.root_node().named_child_count(), 500);
}
