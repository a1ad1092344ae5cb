#pragma once

// Only what Swift cannot call: macros, and callbacks that take a C function.

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <limits.h>
#include <stdint.h>

// Without it OpenSSL would ask the terminal for the password of an encrypted block.
static inline int CTLS_no_password(char *buffer, int size, int writing, void *context) {
    (void)buffer; (void)size; (void)writing; (void)context;
    return -1;
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
        failed = !X509_STORE_add_cert(store, certificate);
        // The list of authorities is sorted when it is first searched: here, not in a handshake.
        if (!failed) X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), X509_LU_X509, X509_get_subject_name(certificate));
        X509_free(certificate);
        *count += !failed;
    }
    unsigned long error = ERR_peek_last_error();
    if (error != 0 && !(ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE)) failed = 1;
    ERR_clear_error();
    BIO_free(input);
    if (failed) {
        X509_STORE_free(store);
        return NULL;
    }
    // What libcurl sets for a store of its own: an authority need not be a root.
    X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
    return store;
}

// SSL_CTX reaches libcurl's callback without its type.
static inline void CTLS_use_store(void *context, X509_STORE *store) {
    SSL_CTX_set1_cert_store((SSL_CTX *)context, store);
}
