internal import CCurl
internal import CarpoolSystem

extension CurlTransfer {
    /// Makes the handle with which libcurl carries out the transfer; `nil` if memory is out.
    /// - Parameter mayShare: whether the origin may take several requests on one connection.
    func makeHandle(_ pool: OriginPool, mayShare: Bool) -> EasyHandle? {
        let httpProtocol = pool.multi.key.httpProtocol
        let configuration = transport.configuration
        guard
            let easy = EasyHandle(
                request, isDecoding: decoding.isAskedFor, allowsHTTP2: httpProtocol != .http1,
                configuration: configuration)
        else { return nil }
        let hasMark = pool.selectMark()
        connectionMark = pool.mark
        if connectionMark != .first { easy.set(CURLOPT_SSL_OPTIONS, connectionMark.options) }
        if request.needsFreshConnection || needsFreshConnection || !hasMark { easy.set(CURLOPT_FRESH_CONNECT, 1) }
        if let seconds = transport.network.dnsCacheSeconds(at: transport.loop.now) {
            easy.set(CURLOPT_DNS_CACHE_TIMEOUT, seconds)
        }
        lacksSocket = false
        // Waits for a connection that is being made; of no use where each serves one request at a time.
        if mayShare { easy.set(CURLOPT_PIPEWAIT, 1) }
        evaluations.willConnect()
        if pool.key.origin.scheme == "https" {
            trustStore = easy.setTrust(request.partition.trust, store: authorities, configuration)
            easy.setVersions(request.partition.tls)
            if request.needsCertificates {
                easy.set(CURLOPT_CERTINFO, 1)
                // A resumed session has no certificates.
                easy.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
            }
        }
        if let proxy = request.partition.proxy {
            easy.setProxy(
                proxy, isTunnel: request.partition.proxyOrigin(for: request.url.origin) == nil,
                isAnswered: request.hopFields?.proxyAuthorization != nil)
            if proxy.kind == .https { easy.setProxyTrust(store: authorities, configuration) }
        }
        if let addresses = request.partition.addresses { easy.setAddresses(addresses) }
        if let socket = request.partition.addresses?.socket { easy.setUnixSocket(socket) }
        easy.installCallbacks(for: self)
        if httpProtocol == .multiplexed, !request.isRepeatable { easy.installMessages(for: self) }
        return easy
    }
}
