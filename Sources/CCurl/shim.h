#ifndef CARPOOL_CCURL_SHIM_H
#define CARPOOL_CCURL_SHIM_H

// The header's checks of setopt's arguments need constant options, which a wrapper does not have.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

// The macros have casts, which Swift cannot import.
static const long CCurl_auth_basic = CURLAUTH_BASIC;
static const long CCurl_auth_digest = CURLAUTH_DIGEST;

// Swift cannot call variadic functions. One wrapper of curl_easy_setopt for each type of argument that is used.
static inline CURLcode CCurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode CCurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode CCurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode CCurl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode CCurl_set_write(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode CCurl_set_read(CURL *easy, curl_read_callback value) {
    return curl_easy_setopt(easy, CURLOPT_READFUNCTION, value);
}
static inline CURLcode CCurl_set_seek(CURL *easy, curl_seek_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode CCurl_set_prereq(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode CCurl_set_debug(CURL *easy, curl_debug_callback value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}
static inline CURLcode CCurl_set_tls_setup(CURL *easy, curl_ssl_ctx_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}
static inline CURLcode CCurl_set_open_socket(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode CCurl_set_socket_setup(CURL *easy, curl_sockopt_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, value);
}
static inline CURLcode CCurl_set_close_socket(CURL *easy, curl_closesocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}

// The same for curl_easy_getinfo; what is not known is 0 or NULL.
static inline long CCurl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline curl_off_t CCurl_get_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline const char *CCurl_get_text(CURL *easy, CURLINFO info) {
    const char *value = NULL;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}
static inline curl_socket_t CCurl_get_active_socket(CURL *easy) {
    curl_socket_t value = CURL_SOCKET_BAD;
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &value) == CURLE_OK ? value : CURL_SOCKET_BAD;
}
static inline void *CCurl_get_private(CURL *easy) {
    void *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

// The certificates of the connection that was made last; NULL if they are not known.
static inline const struct curl_certinfo *CCurl_get_certificates(CURL *easy) {
    const struct curl_certinfo *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_CERTINFO, &value) == CURLE_OK ? value : NULL;
}

// CURLINFO_CONN_ID came with 8.2; -1 if it is not known.
static inline curl_off_t CCurl_get_connection_id(CURL *easy) {
    curl_off_t value = -1;
    return curl_easy_getinfo(easy, (CURLINFO)(CURLINFO_OFF_T + 64), &value) == CURLE_OK ? value : -1;
}

// Replaces the path of a Unix socket in the address that libcurl connects to; returns 0 if it is too long. The address lies at the end of the
// structure, in memory for any kind of address.
static inline int CCurl_set_unix_path(struct curl_sockaddr *address, const char *path) {
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof place.sun_path) return 0;
    strcpy(place.sun_path, path);
    memcpy(&address->addr, &place, sizeof place);
    address->addrlen = (unsigned int)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1);
    return 1;
}

// The same for curl_multi_setopt.
static inline CURLMcode CCurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode CCurl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode CCurl_multi_set_socket(CURLM *multi, curl_socket_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode CCurl_multi_set_timer(CURLM *multi, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

// The result of a message lies in a union without a name that Swift could use.
static inline CURLcode CCurl_message_result(const CURLMsg *message) { return message->data.result; }

// curl_global_trace came with 8.3: a program that named it would not start with an older library. Turns on the messages of a part
// of libcurl for handles that are verbose; returns 0 if the library cannot.
static inline int CCurl_trace(const char *component) {
    CURLcode (*trace)(const char *) = (CURLcode(*)(const char *))dlsym(NULL, "curl_global_trace");
    return trace && trace(component) == CURLE_OK;
}

// Brotli and zstd are in the process where libcurl was built with them. Looked up by name, as with OpenSSL: no headers, and without them no
// coding.
struct CCurl_codec {
    void *state;
    int is_zstd;
};

struct CCurl_zstd_buffer {
    void *bytes;
    size_t size;
    size_t position;
};

static inline void *CCurl_function(const char *name) { return dlsym(NULL, name); }

// Makes a decoder; returns 0 if the library is not there. A frame of zstd may ask for a window of 8 MiB at most (RFC 9659).
static inline int CCurl_codec_open(struct CCurl_codec *codec, int is_zstd) {
    codec->is_zstd = is_zstd;
    if (is_zstd) {
        void *(*create)(void) = (void *(*)(void))CCurl_function("ZSTD_createDCtx");
        size_t (*set)(void *, int, int) = (size_t (*)(void *, int, int))CCurl_function("ZSTD_DCtx_setParameter");
        codec->state = create && CCurl_function("ZSTD_decompressStream") ? create() : NULL;
        if (codec->state && set) set(codec->state, 100, 23);
    } else {
        void *(*create)(void *, void *, void *) =
            (void *(*)(void *, void *, void *))CCurl_function("BrotliDecoderCreateInstance");
        codec->state = create ? create(NULL, NULL, NULL) : NULL;
    }
    return codec->state != NULL;
}

static inline void CCurl_codec_close(struct CCurl_codec *codec) {
    if (!codec->state) return;
    if (codec->is_zstd) {
        size_t (*end)(void *) = (size_t (*)(void *))CCurl_function("ZSTD_freeDCtx");
        if (end) end(codec->state);
    } else {
        void (*end)(void *) = (void (*)(void *))CCurl_function("BrotliDecoderDestroyInstance");
        if (end) end(codec->state);
    }
    codec->state = NULL;
}

// Decodes what it can; the counts are set to what was read and written. Returns -1 for input that is not in the format, 1 at its end, 2 at the
// end of a frame of zstd, else 0.
static inline int CCurl_codec_run(
    struct CCurl_codec *codec, const void *input, size_t *input_count, void *output, size_t *output_count) {
    if (codec->is_zstd) {
        size_t (*run)(void *, struct CCurl_zstd_buffer *, struct CCurl_zstd_buffer *) =
            (size_t (*)(void *, struct CCurl_zstd_buffer *, struct CCurl_zstd_buffer *))CCurl_function(
                "ZSTD_decompressStream");
        unsigned (*failed)(size_t) = (unsigned (*)(size_t))CCurl_function("ZSTD_isError");
        struct CCurl_zstd_buffer in = {(void *)input, *input_count, 0};
        struct CCurl_zstd_buffer out = {output, *output_count, 0};
        size_t result = run(codec->state, &out, &in);
        *input_count = in.position;
        *output_count = out.position;
        // The end of a frame is not the end of the body: another may follow.
        return failed && failed(result) ? -1 : result == 0 ? 2 : 0;
    }
    int (*run)(void *, size_t *, const void **, size_t *, void **, size_t *) =
        (int (*)(void *, size_t *, const void **, size_t *, void **, size_t *))CCurl_function(
            "BrotliDecoderDecompressStream");
    size_t unread = *input_count;
    size_t room = *output_count;
    int result = run(codec->state, &unread, &input, &room, &output, NULL);
    *input_count -= unread;
    *output_count -= room;
    return result == 0 ? -1 : result == 1 ? 1 : 0;
}

// What TLS agreed on. The strings live as long as the connection, or for ever.
struct CCurl_tls {
    const char *version;
    const char *cipher;
    const unsigned char *protocol; // ALPN; not terminated
    unsigned int protocol_length;
    void *connection; // OpenSSL's SSL
};

// Reads it from a handle whose connection is made; returns 0 if there is no TLS, or TLS that is not OpenSSL's. The library is in the
// process because libcurl needs it; looking its functions up by name spares us its header, and it happens once in a connection.
static inline int CCurl_get_tls(CURL *easy, struct CCurl_tls *tls) {
    const struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return 0;
    if (session->backend != CURLSSLBACKEND_OPENSSL || !session->internals) return 0;
    void *ssl = session->internals;
    const char *(*version)(void *) = (const char *(*)(void *))dlsym(NULL, "SSL_get_version");
    const void *(*cipher)(void *) = (const void *(*)(void *))dlsym(NULL, "SSL_get_current_cipher");
    const char *(*name)(const void *) = (const char *(*)(const void *))dlsym(NULL, "SSL_CIPHER_get_name");
    void (*alpn)(void *, const unsigned char **, unsigned int *) =
        (void (*)(void *, const unsigned char **, unsigned int *))dlsym(NULL, "SSL_get0_alpn_selected");
    if (!version || !cipher || !name || !alpn) return 0;
    tls->connection = ssl;
    tls->version = version(ssl);
    tls->cipher = name(cipher(ssl));
    alpn(ssl, &tls->protocol, &tls->protocol_length);
    return 1;
}

#endif
