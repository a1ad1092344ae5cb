#pragma once

// Only what Swift cannot call: macros, and callbacks that take a C function.

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Whether an operation with the certificate's key takes less than a few milliseconds. RSA keys may have 16,384 bits, and exponents as long as
// the key; DSA keys 10,000.
static inline int CTLS_is_cheap(const X509 *certificate) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    if (!key) {
        // OpenSSL refuses a key that it cannot read where it is needed.
        ERR_clear_error();
        return 1;
    }
    int bits = EVP_PKEY_get_bits(key), cheap = 0;
    BIGNUM *exponent = NULL;
    switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_ED25519:
    case EVP_PKEY_ED448: return 1;
    case EVP_PKEY_EC: return bits <= 521;
    case EVP_PKEY_RSA:
    case EVP_PKEY_RSA_PSS:
        cheap = bits <= 8192 && EVP_PKEY_get_bn_param(key, "e", &exponent) && BN_num_bits(exponent) <= 32;
        BN_free(exponent);
        return cheap;
    default: return 0;
    }
}

// Without it OpenSSL would ask the terminal for the password of an encrypted block.
static inline int CTLS_no_password(char *buffer, int size, int writing, void *context) {
    (void)buffer; (void)size; (void)writing; (void)context;
    return -1;
}

// Whether reading PEM blocks has ended because there are no more. Upon a block that is empty, or whose header is not one, OpenSSL stops too,
// without an error.
static inline int CTLS_is_at_end_of_pem(void) {
    unsigned long error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

// What libcurl sets for a store of its own: an authority need not be a root.
static inline void CTLS_set_up_store(X509_STORE *store) {
    X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
}

// A store of the certificates in a PEM text, and how many there are; NULL if one of them cannot be read, or memory is out: then `count` is
// how many came before.
static inline X509_STORE *CTLS_store(const void *pem, size_t size, int *count) {
    *count = 0;
    if (size > INT_MAX) return NULL;
    BIO *input = BIO_new_mem_buf(pem, (int)size);
    X509_STORE *store = X509_STORE_new();
    X509 *certificate = NULL;
    int failed = !input || !store;
    ERR_clear_error();
    while (!failed && (certificate = PEM_read_bio_X509_AUX(input, NULL, CTLS_no_password, NULL))) {
        // An authority whose key costs too much is trusted with nothing.
        failed = CTLS_is_cheap(certificate) && !X509_STORE_add_cert(store, certificate);
        // The list of authorities is sorted when it is first searched: here, not in a handshake.
        if (!failed) X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), X509_LU_X509, X509_get_subject_name(certificate));
        X509_free(certificate);
        *count += !failed;
    }
    if (!failed && !CTLS_is_at_end_of_pem()) failed = 1;
    ERR_clear_error();
    BIO_free(input);
    if (failed) {
        X509_STORE_free(store);
        return NULL;
    }
    CTLS_set_up_store(store);
    return store;
}

// A store of certificates that are parsed already; NULL if memory is out.
static inline X509_STORE *CTLS_store_of(X509 *const *certificates, size_t count) {
    X509_STORE *store = X509_STORE_new();
    int failed = !store;
    for (size_t index = 0; !failed && index < count; index++) failed = !X509_STORE_add_cert(store, certificates[index]);
    if (!failed && count > 0)
        X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), X509_LU_X509, X509_get_subject_name(certificates[0]));
    ERR_clear_error();
    if (failed) {
        X509_STORE_free(store);
        return NULL;
    }
    CTLS_set_up_store(store);
    return store;
}

// Whether OpenSSL uses a list of revoked certificates: not one of changes (delta), of other authorities' certificates (indirect), of some
// reasons, or with extensions that must be understood. `is_whole`: whether it is about all certificates of its authority.
static inline int CTLS_is_usable_list(const X509_CRL *list, int *is_whole) {
    int critical = -1, usable = 1;
    for (int place = 0; usable && place < X509_CRL_get_ext_count(list); place++) {
        X509_EXTENSION *extension = X509_CRL_get_ext(list, place);
        int kind = OBJ_obj2nid(X509_EXTENSION_get_object(extension));
        int known = kind == NID_issuing_distribution_point || kind == NID_authority_key_identifier;
        usable = kind != NID_delta_crl && (known || !X509_EXTENSION_get_critical(extension));
    }
    ISSUING_DIST_POINT *scope = (ISSUING_DIST_POINT *)X509_CRL_get_ext_d2i(list, NID_issuing_distribution_point, &critical, NULL);
    *is_whole = critical == -1;
    usable = usable && (scope || *is_whole) && !(scope && (scope->indirectCRL > 0 || scope->onlyattr > 0 || scope->onlysomereasons));
    ISSUING_DIST_POINT_free(scope);
    ERR_clear_error();
    return usable;
}

// The longest list of ciphers.
enum { CTLS_MOST_CIPHER_BYTES = 1024 };

// The most certificates that a server may send, and the most authorities between its own and a trusted one.
enum { CTLS_MOST_CERTIFICATES = 32, CTLS_MOST_AUTHORITIES = 10 };

// Whether what a server has sent can be verified in a short time.
static inline int CTLS_is_short(X509_STORE_CTX *verification) {
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_untrusted(verification);
    int count = sk_X509_num(chain), cheap = count <= CTLS_MOST_CERTIFICATES;
    for (int index = 0; cheap && index < count; index++) cheap = CTLS_is_cheap(sk_X509_value(chain, index));
    return cheap;
}

// The most that comparing the names of a chain may cost. OpenSSL compares each name of a certificate with each name
// constraint of every authority above it (RFC 5280, section 4.2.1.10); the cost is the product of their bytes. This
// many take up to 5 ms.
enum { CTLS_MOST_NAME_COST = 1 << 24 };

// The bytes of a certificate's extension; 0 without one.
static inline long long CTLS_extension_bytes(const X509 *certificate, int kind) {
    int place = X509_get_ext_by_NID(certificate, kind, -1);
    return place < 0 ? 0 : ASN1_STRING_length(X509_EXTENSION_get_data(X509_get_ext(certificate, place)));
}

// What comparing the names of a chain costs; the server's own certificate is the first.
static inline long long CTLS_name_cost(const STACK_OF(X509) *chain) {
    long long names = 0, cost = 0;
    for (int index = 0; index < sk_X509_num(chain); index++) {
        X509 *certificate = sk_X509_value(chain, index);
        cost += names * CTLS_extension_bytes(certificate, NID_name_constraints);
        size_t subject = 0;
        X509_NAME_get0_der(X509_get_subject_name(certificate), NULL, &subject);
        names += (long long)subject + CTLS_extension_bytes(certificate, NID_subject_alt_name);
    }
    return cost;
}

// Verifies the signatures of a chain that was built, which OpenSSL does before it compares the names.
static inline int CTLS_verify_signatures(X509_STORE_CTX *verification) {
    if (CTLS_name_cost(X509_STORE_CTX_get0_chain(verification)) > CTLS_MOST_NAME_COST) {
        X509_STORE_CTX_set_error(verification, X509_V_ERR_CERT_REJECTED);
        return 0;
    }
    // OpenSSL's own function has no name, but it is the default.
    X509_STORE_CTX *other = X509_STORE_CTX_new();
    X509_STORE_CTX_verify_fn verify =
        other && X509_STORE_CTX_init(other, NULL, NULL, NULL) ? X509_STORE_CTX_get_verify(other) : NULL;
    X509_STORE_CTX_free(other);
    if (verify) return verify(verification);
    X509_STORE_CTX_set_error(verification, X509_V_ERR_OUT_OF_MEM);
    return 0;
}

// Sets the limits of the chain that is built.
static inline void CTLS_limit_chain(X509_STORE_CTX *verification) {
    X509_STORE_CTX_set_depth(verification, CTLS_MOST_AUTHORITIES);
    X509_STORE_CTX_set_verify(verification, CTLS_verify_signatures);
}

// Verifies a chain as OpenSSL does, but refuses one that takes long: also where nobody looks at the result, since the server signs with its key.
static inline int CTLS_verify(X509_STORE_CTX *verification, void *unused) {
    (void)unused;
    if (CTLS_is_short(verification)) {
        CTLS_limit_chain(verification);
        return X509_verify_cert(verification);
    }
    SSL *connection = (SSL *)X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx());
    SSL_set_verify(connection, SSL_VERIFY_PEER, NULL);
    X509_STORE_CTX_set_error(verification, X509_V_ERR_CERT_REJECTED);
    return 0;
}

// Sets up connections so that a handshake, which is one step for the loop, is short whatever the server chooses: no Diffie-Hellman over the
// integers, which takes up to a second and a half, and no expensive keys. SSL_CTX reaches libcurl's callback without its type.
// `ciphers` and `suites` are the caller's, or NULL.
static inline int CTLS_limit_handshakes(void *context, const char *ciphers, const char *suites) {
    char list[CTLS_MOST_CIPHER_BYTES + 32];
    if (ciphers && strlen(ciphers) > CTLS_MOST_CIPHER_BYTES) return 0;
    snprintf(list, sizeof list, "%s:!kDHE:!aNULL:!eNULL", ciphers ? ciphers : "DEFAULT");
    SSL_CTX_set_cert_verify_callback((SSL_CTX *)context, CTLS_verify, NULL);
    return SSL_CTX_set_cipher_list((SSL_CTX *)context, list)
        && (!suites || SSL_CTX_set_ciphersuites((SSL_CTX *)context, suites))
        && SSL_CTX_set1_groups_list((SSL_CTX *)context, "X25519:P-256:X448:P-384:P-521");
}

// Whether OpenSSL knows these lists of ciphers, either of which may be NULL.
static inline int CTLS_knows_ciphers(const char *ciphers, const char *suites) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    int known = context && CTLS_limit_handshakes(context, ciphers, suites);
    SSL_CTX_free(context);
    ERR_clear_error();
    return known;
}

static inline void CTLS_use_store(void *context, X509_STORE *store) {
    SSL_CTX_set1_cert_store((SSL_CTX *)context, store);
}

// How names of certificates are shown: as RFC 2253 writes them, but with the letters of all languages as they are.
static const unsigned long CTLS_NAME_FLAGS = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;

// Has a connection ask for the answer of an OCSP responder, and calls back before anything but the greeting was sent: also if the server has
// sent none. 1 from the callback continues the handshake, 0 ends it.
static inline void CTLS_request_staple(void *context, int (*callback)(SSL *, void *), void *data) {
    SSL_CTX_set_tlsext_status_type((SSL_CTX *)context, TLSEXT_STATUSTYPE_ocsp);
    SSL_CTX_set_tlsext_status_cb((SSL_CTX *)context, callback);
    SSL_CTX_set_tlsext_status_arg((SSL_CTX *)context, data);
}
