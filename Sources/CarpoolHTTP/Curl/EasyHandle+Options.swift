internal import CCurl
internal import CTLS
internal import CarpoolSystem

/// The options of a hop's handle that differ from libcurl's defaults.
extension EasyHandle {
    /// Headers that libcurl would add by itself; the request alone decides which it has. The first is for responses
    /// that are decoded; libcurl would write the same, but in two steps and byte by byte. The last two are for
    /// requests with a body; `Expect` costs a second with servers that do not know it (RFC 9110, section 10.1.1,
    /// leaves it to the client).
    private static let defaults: [DefaultField] = [
        DefaultField(name: "Accept-Encoding", value: TransportRequest.encodings), DefaultField(name: "Accept"),
        DefaultField(name: "Content-Type"), DefaultField(name: "Expect"),
    ]

    /// The receive buffer of a long transfer, instead of 16 KiB: fewer system calls for each megabyte.
    private static let longBufferBytes = 131_072

    /// Bodies of at least this size are sent in larger pieces than libcurl's 64 KiB.
    private static let longBodyBytes: Int64 = 1 << 20
    /// The size of those pieces: fewer system calls for each megabyte.
    private static let sendBufferBytes = 524_288

    /// The fields that are added to those of a request.
    private static func defaults(for request: TransportRequest, isDecoding: Bool) -> ArraySlice<DefaultField> {
        let first = isDecoding ? 0 : 1
        guard request.sendsLength else { return defaults[first..<2] }
        let isChunked = request.body.lengthBytes == nil
        guard request.expectsContinue || isChunked else { return defaults[first...] }
        var fields = defaults[first..<3]
        fields.append(DefaultField(name: "Expect", value: request.expectsContinue ? "100-continue" : ""))
        // Left out by libcurl where the connection turns out to speak HTTP/2, which has frames.
        if isChunked { fields.append(DefaultField(name: "Transfer-Encoding", value: "chunked")) }
        return fields
    }

    /// Makes a handle with everything that follows from the request and the configuration; `nil` if memory is out.
    /// - Parameters:
    ///   - isDecoding: whether the response's body will be decoded.
    ///   - allowsHTTP2: whether the connection may agree on HTTP/2.
    init?(_ request: TransportRequest, isDecoding: Bool, allowsHTTP2: Bool, configuration: TransportConfiguration) {
        self.init(fields: request.fields, defaults: EasyHandle.defaults(for: request, isDecoding: isDecoding))
        set(CURLOPT_CURLU, pointer: UnsafeRawPointer(request.url.handle))
        setPolicy(request, configuration)
        set(CURLOPT_HTTP_VERSION, allowsHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        setMethod(request)
        if request.isLong { set(CURLOPT_BUFFERSIZE, EasyHandle.longBufferBytes) }
    }

    private func setPolicy(_ request: TransportRequest, _ configuration: TransportConfiguration) {
        // Neither a redirect nor an environment variable may change the destination of a request.
        set(CURLOPT_PROTOCOLS_STR, text: request.url.origin.scheme)
        set(CURLOPT_PROXY, text: "")
        set(CURLOPT_NOSIGNAL, 1)
        // Without it, ending a transfer that still resolves its host would block the loop until the resolver answers.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_MAXAGE_CONN, configuration.idleSeconds)
        set(CURLOPT_MAXLIFETIME_CONN, configuration.lifetimeSeconds)
        // The transport's own timer ends the attempt. libcurl divides this time among the addresses of a host, so that
        // a dead first one does not use it up.
        set(CURLOPT_CONNECTTIMEOUT_MS, min(max(1, request.connectTimeoutMilliseconds), Int(Int32.max)))
    }

    /// - Parameter system: the system's authorities, which must live as long as the handle; `nil` if they cannot be
    ///   read.
    func setTrust(_ trust: ConnectionPartition.Trust, system: TrustStore?, _ configuration: TransportConfiguration) {
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // With a directory of authorities beside the file, libcurl would read the file again for each connection: 17
        // ms instead of 1.
        set(CURLOPT_CAPATH, pointer: nil)
        switch trust {
        case .system:
            // libcurl then reads the file itself, and reports its error.
            use(system)
            if system == nil { set(CURLOPT_CAINFO, text: configuration.authoritiesPath) }
        case .authorities(let authorities): use(authorities.store)
        case .none:
            use(nil)
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
    }

    /// Makes connections trust a store instead of a file. The TLS callback of a transfer, which is set later, uses the
    /// same data.
    private func use(_ store: TrustStore?) {
        set(CURLOPT_CAINFO, pointer: nil)
        CCurl_set_tls_setup(raw) { _, context, store in EasyHandle.prepareTLS(context, store) }
        set(CURLOPT_SSL_CTX_DATA, pointer: store.map { UnsafeRawPointer($0.raw) })
    }

    /// Sets up a connection before its handshake: its limits, and the store that it trusts if there is one.
    static func prepareTLS(_ context: UnsafeMutableRawPointer?, _ store: UnsafeMutableRawPointer?) -> CURLcode {
        guard let context, CTLS_limit_handshakes(context) == 1 else { return CURLE_SSL_CIPHER }
        if let store { CTLS_use_store(context, OpaquePointer(store)) }
        return CURLE_OK
    }

    private func setMethod(_ request: TransportRequest) {
        let method = request.method
        if method == .head {
            // With CURLOPT_CUSTOMREQUEST libcurl would wait for a body that never arrives.
            set(CURLOPT_NOBODY, 1)
            return
        }
        if request.sendsLength {
            // Not CURLOPT_UPLOAD, which asks for `Expect: 100-continue` in older versions whatever the length.
            set(CURLOPT_POST, 1)
            let length = request.body.lengthBytes
            set(CURLOPT_POSTFIELDSIZE_LARGE, offset: length ?? -1)
            if length == 0 { set(CURLOPT_COPYPOSTFIELDS, text: "") }
            if length ?? .max >= EasyHandle.longBodyBytes { set(CURLOPT_UPLOAD_BUFFERSIZE, EasyHandle.sendBufferBytes) }
            if method != .post { set(CURLOPT_CUSTOMREQUEST, text: method.rawValue) }
        } else if method != .get {
            set(CURLOPT_CUSTOMREQUEST, text: method.rawValue)
        }
    }
}
