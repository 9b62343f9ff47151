/* libsecp256k1: keys, signatures of both kinds, verification, shared secrets. The names have the prefix that the crate's sources have, and
 * contexts are where the caller says, as there. */
#include <secp256k1.h>
#include <secp256k1_ecdh.h>
#include <secp256k1_extrakeys.h>
#include <secp256k1_preallocated.h>
#include <secp256k1_schnorrsig.h>

#include "input.h"

#define SECP(name) rustsecp256k1_v0_10_0_##name

enum { KEYS = 64, MESSAGES = 2400 };

/* The library is built to ask its user for these. */
void SECP(default_illegal_callback_fn)(const char *message, void *data) { (void)data, real_expect(0, message); }
void SECP(default_error_callback_fn)(const char *message, void *data) { (void)data, real_expect(0, message); }

int main(void)
{
  void *memory = real_memory(SECP(context_preallocated_size)(SECP256K1_CONTEXT_NONE));
  SECP(context) *context = SECP(context_preallocated_create)(memory, SECP256K1_CONTEXT_NONE);
  unsigned char *text = real_input(9, MESSAGES * 128, 0), (*secret)[32] = real_memory(sizeof(unsigned char[KEYS][32]));
  SECP(pubkey) *public = real_memory(KEYS * sizeof *public);
  SECP(keypair) *pair = real_memory(KEYS * sizeof *pair);
  SECP(xonly_pubkey) *only = real_memory(KEYS * sizeof *only);
  uint64_t sum = 0;
  const unsigned char tag[] = "never slower";
  unsigned char seed[32] = {7}, message[32], compact[64], schnorr[64], shared[32], point[33];
  real_expect(SECP(context_randomize)(context, seed), "randomize");
  for (int i = 0; i < KEYS; i++) {
    real_expect(SECP(tagged_sha256)(context, secret[i], tag, sizeof tag, text + i, 100), "tagged_sha256");
    real_expect(SECP(ec_pubkey_create)(context, &public[i], secret[i]) && SECP(keypair_create)(context, &pair[i], secret[i]), "keys");
    real_expect(SECP(keypair_xonly_pub)(context, &only[i], NULL, &pair[i]), "xonly");
  }
  for (int i = 0; i < MESSAGES; i++) {
    int key = i % KEYS;
    SECP(ecdsa_signature) signature;
    real_expect(SECP(tagged_sha256)(context, message, tag, sizeof tag, text + i * 128, 128), "tagged_sha256");
    real_expect(SECP(ecdsa_sign)(context, &signature, message, secret[key], NULL, NULL), "sign");
    real_expect(SECP(ecdsa_signature_serialize_compact)(context, compact, &signature), "compact");
    real_expect(SECP(ecdsa_verify)(context, &signature, message, &public[key]), "verify");
    real_expect(SECP(schnorrsig_sign32)(context, schnorr, message, &pair[key], NULL), "schnorr");
    real_expect(SECP(schnorrsig_verify)(context, schnorr, message, 32, &only[key]), "schnorr verify");
    real_expect(SECP(ecdh)(context, shared, &public[key], secret[(i * 7 + 1) % KEYS], NULL, NULL), "ecdh");
    message[i % 32] ^= 1;
    real_expect(!SECP(ecdsa_verify)(context, &signature, message, &public[key]), "another message");
    real_expect(SECP(ec_pubkey_tweak_add)(context, &public[key], message), "tweak");
    real_expect(SECP(ec_pubkey_create)(context, &public[key], secret[key]), "key again");
    size_t length = sizeof point;
    real_expect(SECP(ec_pubkey_serialize)(context, point, &length, &public[key], SECP256K1_EC_COMPRESSED), "serialize");
    sum = real_checksum(real_checksum(real_checksum(real_checksum(sum, compact, 64), schnorr, 64), shared, 32), point, 33);
  }
  printf("sum %016llx\n", (unsigned long long)sum);
  SECP(context_preallocated_destroy)(context);
  free(memory);
  free(text);
  free(secret);
  free(public);
  free(pair);
  free(only);
  return 0;
}
