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
    /// Added by libcurl to a request that a proxy gets; one without default fields has it only if it names it.
    private static let ofProxy = DefaultField(name: "Proxy-Connection")

    /// The receive buffer of a long transfer, instead of 16 KiB: fewer system calls for each megabyte.
    private static let longBufferBytes = 131_072

    /// Bodies of at least this size are sent in larger pieces than libcurl's 64 KiB.
    private static let longBodyBytes: Int64 = 1 << 20
    /// The size of those pieces: fewer system calls for each megabyte.
    private static let sendBufferBytes = 524_288

    /// A connection that was idle for longer is not used for a request that cannot be sent again: the origin may be
    /// closing it. Servers keep idle connections for 5 s and longer (Apache, Node.js; nginx 75 s).
    private static let freshSeconds = 2

    /// The fields that are added to those of a request.
    private static func defaults(for request: TransportRequest, isDecoding: Bool) -> ArraySlice<DefaultField> {
        let fields = ownDefaults(for: request, isDecoding: isDecoding)
        guard !request.hasDefaultFields, request.partition.proxyOrigin(for: request.url.origin) != nil else {
            return fields
        }
        return fields + [ofProxy]
    }

    private static func ownDefaults(for request: TransportRequest, isDecoding: Bool) -> ArraySlice<DefaultField> {
        let first = isDecoding && request.hasDefaultFields ? 0 : 1
        guard request.sendsLength else { return defaults[first..<2] }
        let isChunked = request.body.lengthBytes == nil
        guard request.expectsContinue || isChunked else { return defaults[first...] }
        var fields = defaults[first..<3]
        // Without default fields libcurl decides, once it knows the version of HTTP.
        if request.hasDefaultFields || !request.expectsContinue {
            fields.append(DefaultField(name: "Expect", value: request.expectsContinue ? "100-continue" : ""))
        }
        // Left out by libcurl where the connection turns out to speak HTTP/2, which has frames.
        if isChunked { fields.append(DefaultField(name: "Transfer-Encoding", value: "chunked")) }
        return fields
    }

    /// Makes a handle with everything that follows from the request and the configuration; `nil` if memory is out.
    /// - Parameters:
    ///   - isDecoding: whether the response's body will be decoded.
    ///   - allowsHTTP2: whether the connection may agree on HTTP/2.
    init?(_ request: TransportRequest, isDecoding: Bool, allowsHTTP2: Bool, configuration: TransportConfiguration) {
        self.init(
            fields: EasyHandle.fields(of: request), hopFields: request.hopFields,
            sendsHost: request.differentHost != nil,
            defaults: EasyHandle.defaults(for: request, isDecoding: isDecoding))
        set(CURLOPT_CURLU, pointer: UnsafeRawPointer(request.url.handle))
        if request.url.hasEmptyQuery { setTarget(request) }
        setPolicy(request, configuration)
        set(CURLOPT_HTTP_VERSION, allowsHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        setMethod(request)
        if request.keepsTransferCoding { set(CURLOPT_HTTP_TRANSFER_DECODING, 0) }
        if request.isLong || request.hasLargeBuffer { set(CURLOPT_BUFFERSIZE, EasyHandle.longBufferBytes) }
    }

    /// The fields that are sent. Older versions of libcurl send no chunk at all of an empty body: then there is no
    /// `Transfer-Encoding` either, and the next request is not taken for a chunk.
    private static func fields(of request: TransportRequest) -> [HTTPField] {
        guard CurlLibrary.profile == .http1, !request.hasDefaultFields, request.body.lengthBytes == 0 else {
            return request.sentFields
        }
        return request.sentFields.filter { !$0.isNamed("transfer-encoding") }
    }

    /// Sets the target of a request whose URL has an empty query, which libcurl would leave out.
    private func setTarget(_ request: TransportRequest) {
        let isForProxy = request.partition.proxyOrigin(for: request.url.origin) != nil
        set(CURLOPT_REQUEST_TARGET, text: isForProxy ? request.url.withoutFragment : request.url.requestTarget)
    }

    private func setPolicy(_ request: TransportRequest, _ configuration: TransportConfiguration) {
        // Neither a redirect nor an environment variable may change the destination of a request.
        set(CURLOPT_PROTOCOLS_STR, text: request.url.origin.scheme)
        set(CURLOPT_PROXY, text: "")
        set(CURLOPT_NOSIGNAL, 1)
        // Without it, ending a transfer that still resolves its host would block the loop until the resolver answers.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_MAXAGE_CONN, request.mayRepeat ? configuration.idleSeconds : EasyHandle.freshSeconds)
        set(CURLOPT_MAXLIFETIME_CONN, configuration.lifetimeSeconds)
        // The transport's own timers end the attempt, before this one. libcurl divides this time among the addresses of
        // a host, so that a dead first one does not use it up.
        let others = min(request.resourceTimeoutMilliseconds, request.idleTimeoutMilliseconds) &+ 100
        set(CURLOPT_CONNECTTIMEOUT_MS, min(max(1, min(request.connectTimeoutMilliseconds, others)), Int(Int32.max)))
    }

    /// Sets how the server's certificate is verified.
    /// - Parameter store: the authorities that are trusted; `nil` if they cannot be read.
    /// - Returns: the authorities that ``prepareTLS(_:_:_:_:)`` needs.
    func setTrust(
        _ trust: ServerTrust, store: TrustStore?, _ configuration: TransportConfiguration
    ) -> TrustStore? {
        // With a directory of authorities beside the file, libcurl would read the file again for each connection: 17
        // ms instead of 1.
        set(CURLOPT_CAPATH, pointer: nil)
        set(CURLOPT_CAINFO, pointer: nil)
        // 7.88.1 would keep the store of the first connection of a handle for a day, and use it for all others.
        if store != nil { set(CURLOPT_CA_CACHE_TIMEOUT, 0) }
        if trust.evaluator != nil {
            // The evaluation looks at the host itself. It is not called if a TLS session is resumed.
            set(CURLOPT_SSL_VERIFYHOST, 0)
            set(CURLOPT_SSL_SESSIONID_CACHE, 0)
            return store
        }
        guard trust.isVerified else {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
            return nil
        }
        // libcurl then reads the file itself, and reports its error.
        if store == nil { set(CURLOPT_CAINFO, text: configuration.authoritiesPath) }
        return store
    }

    /// Sets the versions of TLS; 1.2 and newer by default.
    func setVersions(_ tls: TLSSettings?) {
        let oldest = (tls?.minimum ?? .tls12).curlNumber
        // libcurl takes the newest version in the upper half of the number.
        set(CURLOPT_SSLVERSION, tls.map { oldest | $0.maximum.curlNumber << 16 } ?? oldest)
    }

    /// Sets how the host is reached.
    func setAddresses(_ addresses: ConnectionAddresses) {
        if let list = addresses.resolveList { set(CURLOPT_RESOLVE, pointer: UnsafeRawPointer(list)) }
        if let list = addresses.connectToList { set(CURLOPT_CONNECT_TO, pointer: UnsafeRawPointer(list)) }
        // The prefixes keep libcurl from looking for an interface of that name, or from resolving a name.
        if let name = addresses.interface { set(CURLOPT_INTERFACE, text: "if!\(name)") }
        if let address = addresses.localAddress { set(CURLOPT_INTERFACE, text: "host!\(address)") }
        switch addresses.family {
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        case nil: break
        }
    }

    /// Sets up a connection before its handshake: its limits, its ciphers, the authorities that it trusts, and its
    /// evaluation. Returns whether OpenSSL accepted them.
    static func prepareTLS(
        _ context: UnsafeMutableRawPointer, _ store: TrustStore?, _ tls: TLSSettings?, _ evaluation: TrustEvaluation?
    ) -> Bool {
        guard CTLS_limit_handshakes(context, tls?.ciphers, tls?.cipherSuites) == 1 else { return false }
        if let store { CTLS_use_store(context, store.raw) }
        return evaluation?.install(on: context) ?? true
    }

    private func setMethod(_ request: TransportRequest) {
        let method = request.method
        if method == .head {
            // With CURLOPT_CUSTOMREQUEST libcurl would wait for a body that never arrives.
            set(CURLOPT_NOBODY, 1)
            return
        }
        if request.hasOwnEmptyLength {
            // With CURLOPT_POST libcurl may take the response for one that came before the body, and close the
            // connection.
            set(CURLOPT_CUSTOMREQUEST, text: method.rawValue)
        } else if request.sendsLength {
            setBody(request)
        } else if method != .get {
            set(CURLOPT_CUSTOMREQUEST, text: method.rawValue)
        }
    }

    private func setBody(_ request: TransportRequest) {
        let length = request.body.lengthBytes
        if let length, length > 0, !request.hasDefaultFields,
            request.fields.contains(where: { $0.isNamed("transfer-encoding") })
        {
            // With CURLOPT_POST libcurl would forget the length, which HTTP/2 sends in place of chunks.
            set(CURLOPT_UPLOAD, 1)
            set(CURLOPT_INFILESIZE_LARGE, offset: length)
            return set(CURLOPT_CUSTOMREQUEST, text: request.method.rawValue)
        }
        // Not CURLOPT_UPLOAD, which asks for `Expect: 100-continue` in older versions whatever the length.
        set(CURLOPT_POST, 1)
        set(CURLOPT_POSTFIELDSIZE_LARGE, offset: length ?? -1)
        if length == 0 { set(CURLOPT_COPYPOSTFIELDS, text: "") }
        if length ?? .max >= EasyHandle.longBodyBytes { set(CURLOPT_UPLOAD_BUFFERSIZE, EasyHandle.sendBufferBytes) }
        if request.method != .post { set(CURLOPT_CUSTOMREQUEST, text: request.method.rawValue) }
    }
}

extension TLSSettings.Version {
    /// libcurl's number.
    fileprivate var curlNumber: Int {
        switch self {
        case .tls10: Int(CURL_SSLVERSION_TLSv1_0)
        case .tls11: Int(CURL_SSLVERSION_TLSv1_1)
        case .tls12: Int(CURL_SSLVERSION_TLSv1_2)
        case .tls13: Int(CURL_SSLVERSION_TLSv1_3)
        }
    }
}
