// OpenSSL's C API for Swift. Inline functions stand in for the macros that Swift cannot import.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <malloc.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

static inline int copenssl_SSL_CTX_set_min_proto_version(SSL_CTX *ctx, int version) {
    return (int)SSL_CTX_set_min_proto_version(ctx, version);
}
// 0: the newest that this OpenSSL knows.
static inline int copenssl_SSL_CTX_set_max_proto_version(SSL_CTX *ctx, int version) {
    return (int)SSL_CTX_set_max_proto_version(ctx, version);
}
static inline long copenssl_SSL_CTX_set_mode(SSL_CTX *ctx, long mode) {
    return SSL_CTX_set_mode(ctx, mode);
}
static inline void copenssl_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    (void)SSL_set_tlsext_host_name(ssl, name);
}
// A renegotiation is work for the asking, compression leaks lengths, and the server's order of suites counts, but for a
// client that puts ChaCha20 first, which has no AES in hardware.
static inline void copenssl_SSL_CTX_set_server_options(SSL_CTX *ctx) {
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
                                 | SSL_OP_PRIORITIZE_CHACHA);
}
static inline int copenssl_SSL_CTX_set1_groups_list(SSL_CTX *ctx, const char *list) {
    return (int)SSL_CTX_set1_groups_list(ctx, list);
}
// What both sides may sign with: in the server's handshake messages, and in a client's.
static inline int copenssl_SSL_CTX_set1_sigalgs_list(SSL_CTX *ctx, const char *list) {
    return SSL_CTX_set1_sigalgs_list(ctx, list) == 1 && SSL_CTX_set1_client_sigalgs_list(ctx, list) == 1;
}
// Resumption is by tickets alone: no session is kept in memory.
static inline void copenssl_SSL_CTX_switch_session_cache_off(SSL_CTX *ctx) {
    (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}
static inline void copenssl_SSL_CTX_set_max_cert_list(SSL_CTX *ctx, long octets) {
    (void)SSL_CTX_set_max_cert_list(ctx, octets);
}
// Takes the certificate over when it gives 1.
static inline int copenssl_SSL_CTX_add0_chain_cert(SSL_CTX *ctx, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(ctx, certificate);
}
static inline int copenssl_SSL_CTX_set1_verify_cert_store(SSL_CTX *ctx, X509_STORE *store) {
    return (int)SSL_CTX_set1_verify_cert_store(ctx, store);
}
// HMAC-SHA-256 over a session ticket. The parameters hold pointers, so they are made and used in one place.
static inline int copenssl_EVP_MAC_CTX_set_hmac_sha256(EVP_MAC_CTX *ctx, unsigned char *key, size_t count) {
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key, count),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(ctx, parameters);
}
static inline int copenssl_BIO_get_mem_data(BIO *bio, char **out) {
    return (int)BIO_get_mem_data(bio, out);
}
static inline void copenssl_OPENSSL_free(void *memory) { OPENSSL_free(memory); }

static inline int copenssl_EVP_PKEY_PUBLIC_KEY(void) { return EVP_PKEY_PUBLIC_KEY; }

// A key of a named algorithm that is made of a seed alone; NULL when this OpenSSL does not have it. The names are in no header
// before 3.5: they are parameters' and algorithms' own.
static inline EVP_PKEY *copenssl_EVP_PKEY_from_seed(const char *name, const unsigned char *seed, size_t count) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, name, NULL);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string("seed", (void *)seed, count),
        OSSL_PARAM_construct_end(),
    };
    if (ctx == NULL || EVP_PKEY_keygen_init(ctx) != 1 || EVP_PKEY_CTX_set_params(ctx, parameters) != 1
        || EVP_PKEY_generate(ctx, &key) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(ctx);
    return key;
}
// A signature over a whole message that is bound to a context, as FIPS 204 has it.
static inline int copenssl_EVP_DigestSign_with_context(EVP_PKEY *key, const unsigned char *context, size_t context_count,
                                                       unsigned char *signature, size_t *signature_count,
                                                       const unsigned char *message, size_t message_count) {
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string("context-string", (void *)context, context_count),
        OSSL_PARAM_construct_end(),
    };
    int made = ctx != NULL && EVP_DigestSignInit_ex(ctx, NULL, NULL, NULL, NULL, key, parameters) == 1
               && EVP_DigestSign(ctx, signature, signature_count, message, message_count) == 1;
    EVP_MD_CTX_free(ctx);
    return made;
}

#endif
