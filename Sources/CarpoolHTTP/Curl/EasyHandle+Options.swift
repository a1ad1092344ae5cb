internal import CCurl
internal import CTLS
internal import CarpoolSystem

/// Everything in which a hop's handle differs from libcurl's defaults.
extension EasyHandle {
    /// Headers that libcurl would add by itself: whoever asks for a request says what is in it. The first is for responses that are decoded;
    /// libcurl would write the same, but in two steps and byte by byte. The last two are for requests with a body; `Expect` costs a second with
    /// servers that do not know it (RFC 9110, section 10.1.1, leaves it to the client).
    private static let defaults: [DefaultField] = [
        DefaultField(name: "Accept-Encoding", value: TransportRequest.encodings), DefaultField(name: "Accept"),
        DefaultField(name: "Content-Type"), DefaultField(name: "Expect"),
    ]

    /// What a long transfer reads at a time, instead of 16 KiB: fewer system calls for each megabyte.
    private static let longBufferBytes = 131_072

    /// From this size on a body is sent by larger pieces than libcurl's 64 KiB.
    private static let longBodyBytes: Int64 = 1 << 20
    /// The size of those pieces: fewer system calls for each megabyte.
    private static let sendBufferBytes = 524_288

    /// The fields to add to those of a request.
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

    /// Makes the handle of a transfer; `nil` if memory is out.
    /// `mayShare` says whether it may turn out that the origin takes several requests on one connection.
    init?(transfer: CurlTransfer, pool: OriginPool, mayShare: Bool, configuration: TransportConfiguration) {
        let request = transfer.request
        self.init(
            fields: request.fields, defaults: EasyHandle.defaults(for: request, isDecoding: transfer.isDecoding))
        set(CURLOPT_CURLU, pointer: UnsafeRawPointer(request.url.handle))
        setPolicy(pool, configuration, connectMilliseconds: request.connectTimeoutMilliseconds)
        // One that has lost its way may still have transfers, and libcurl would add to them.
        if request.needsFreshConnection || transfer.needsFreshConnection || pool.hasRetiredStreams {
            set(CURLOPT_FRESH_CONNECT, 1)
        }
        if let seconds = transfer.transport.network.dnsCacheSeconds(at: transfer.transport.loop.now) {
            set(CURLOPT_DNS_CACHE_TIMEOUT, seconds)
        }
        // Rather wait for a connection that is being made than make another; for nothing, where each serves one request at a time.
        if mayShare { set(CURLOPT_PIPEWAIT, 1) }
        if pool.key.origin.scheme == "https" {
            transfer.systemTrust = transfer.transport.systemTrust.store
            setTrust(request.partition.trust, system: transfer.systemTrust, configuration)
        }
        setMethod(request)
        if request.isLong { set(CURLOPT_BUFFERSIZE, EasyHandle.longBufferBytes) }
        installCallbacks(for: transfer)
        if pool.multi.key.httpProtocol == .multiplexed, !request.method.isIdempotent { installMessages(for: transfer) }
    }

    private func setPolicy(_ pool: OriginPool, _ configuration: TransportConfiguration, connectMilliseconds: Int) {
        // A request goes where its URL says, whatever a redirect or an environment variable would have.
        set(CURLOPT_PROTOCOLS_STR, text: pool.key.origin.scheme)
        set(CURLOPT_PROXY, text: "")
        set(CURLOPT_NOSIGNAL, 1)
        // Else ending a transfer that still resolves its host would hold the loop until the resolver answers.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_MAXAGE_CONN, configuration.idleSeconds)
        set(CURLOPT_MAXLIFETIME_CONN, configuration.lifetimeSeconds)
        // Ours decides; libcurl's own divides it among the addresses of a host, so that a dead first one does not use it up.
        set(CURLOPT_CONNECTTIMEOUT_MS, min(max(1, connectMilliseconds), Int(Int32.max)))
        switch pool.multi.key.httpProtocol {
        case .http1: set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        case .singleStream, .multiplexed: set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        }
    }

    /// - Parameter system: the system's authorities, which must live as long as the handle; `nil` if they cannot be read.
    func setTrust(_ trust: ConnectionPartition.Trust, system: TrustStore?, _ configuration: TransportConfiguration) {
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // With a directory of authorities beside the file, libcurl would read the file anew for each connection: 17 ms instead of 1.
        set(CURLOPT_CAPATH, pointer: nil)
        switch trust {
        case .system:
            // Without them libcurl says why.
            use(system)
            if system == nil { set(CURLOPT_CAINFO, text: configuration.authoritiesPath) }
        case .authorities(let authorities): use(authorities.store)
        case .none:
            use(nil)
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
    }

    /// Has connections trust a store, and no file. A transfer's callback for TLS, which is set later, does the same with these data.
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
            // As a mere name it would make libcurl wait for a body that never comes.
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

extension TransportRequest {
    /// Whether the head says how long the body is: if there is one, and also for methods that are about giving one (RFC 9110, section 8.6).
    public var sendsLength: Bool {
        if case .none = body {} else { return method != .head }
        return method == .post || method.rawValue == "PUT" || method.rawValue == "PATCH"
    }

    /// Whether libcurl asks for encodings and decodes: not if the request asks for encodings itself, as it wants the bytes then.
    public var isDecoded: Bool { decodesContent && !fields.contains { $0.isNamed("accept-encoding") } }
}
