internal import CCurl
public import CarpoolSystem
internal import Glibc

/// Connects raw streams: one multi handle for all of them, driven by the event loop, apart from the pool of requests.
public final class RawStreamPool: ReadinessHandler {
    let loop: EventLoop
    private let configuration: TransportConfiguration
    private let systemTrust: SystemTrust
    private let raw: UnsafeMutableRawPointer
    private var timer: Timer?
    /// Every stream that is not closed.
    private var streams: [ObjectIdentifier: RawStream] = [:]
    /// Sockets that libcurl watches while it connects.
    private var watched: Set<Int32> = []
    /// The pools of streams with entries of `resolve`, which libcurl keeps for all transfers of a handle.
    private var others: [ConnectionAddresses: RawStreamPool] = [:]
    /// Whether all streams have the same entries of `resolve`.
    private let isForEqualAddresses: Bool

    /// Makes an empty pool on the loop. Throws ``TransportError/Code/unknown`` if libcurl cannot be used.
    /// - Parameter transport: provides the system's certificate authorities; without it the pool reads them itself.
    public convenience init(
        loop: EventLoop, configuration: TransportConfiguration = TransportConfiguration(),
        transport: CurlTransport? = nil
    ) throws(TransportError) {
        let systemTrust =
            transport?.systemTrust
            ?? SystemTrust(path: configuration.authoritiesPath, worker: Worker(loop: loop))
        try self.init(loop: loop, configuration: configuration, systemTrust: systemTrust, isForEqualAddresses: false)
    }

    private init(
        loop: EventLoop, configuration: TransportConfiguration, systemTrust: SystemTrust, isForEqualAddresses: Bool
    ) throws(TransportError) {
        guard CurlLibrary.isReady, let raw = curl_multi_init() else {
            throw TransportError(.unknown, "libcurl cannot be initialised")
        }
        self.loop = loop
        self.configuration = configuration
        self.raw = raw
        self.systemTrust = systemTrust
        self.isForEqualAddresses = isForEqualAddresses
        let context = Unmanaged.passUnretained(self).toOpaque()
        CCurl_multi_set_socket(raw, socketInterestChanged)
        CCurl_multi_set_pointer(raw, CURLMOPT_SOCKETDATA, context)
        CCurl_multi_set_timer(raw, timerChanged)
        CCurl_multi_set_pointer(raw, CURLMOPT_TIMERDATA, context)
        CCurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, configuration.connections)
        timer = Timer { [unowned self] in callSocketAction(CURL_SOCKET_BAD, 0) }
    }

    deinit {
        if let timer { loop.cancel(timer) }
        for stream in Array(streams.values) { close(stream) }
        CCurl_multi_set_socket(raw, nil)
        CCurl_multi_set_timer(raw, nil)
        curl_multi_cleanup(raw)
    }

    /// The number of streams.
    public var count: Int { others.values.reduce(streams.count) { $0 + $1.count } }

    /// The pool of streams with these addresses; `nil` if libcurl cannot be used.
    private func pool(for addresses: ConnectionAddresses) -> RawStreamPool? {
        if let known = others[addresses] { return known }
        // Not when their last stream is closed, which may be in one of their callbacks.
        others = others.filter { $0.value.count > 0 }
        let pool = try? RawStreamPool(
            loop: loop, configuration: configuration, systemTrust: systemTrust, isForEqualAddresses: true)
        others[addresses] = pool
        return pool
    }

    /// Connects to a host and port, over TLS if the URL is `https`; the rest of the URL is ignored.
    /// - Parameters:
    ///   - settings: a Unix socket and an HTTPS proxy are not supported.
    ///   - timeoutMilliseconds: how long resolving, connecting and TLS may take together.
    /// - Returns: the stream, whose delegate is notified later; `nil` if memory is out, or the settings are not
    ///   supported.
    public func open(
        _ url: HTTPURL, settings: ConnectionSettings?, timeoutMilliseconds: Int, delegate: any RawStreamDelegate
    ) -> RawStream? {
        if !isForEqualAddresses, let addresses = settings?.values.addresses, !addresses.resolve.isEmpty {
            return pool(for: addresses)?.open(
                url, settings: settings, timeoutMilliseconds: timeoutMilliseconds, delegate: delegate)
        }
        guard settings?.values.addresses?.socket == nil, settings?.values.proxy?.kind != .https,
            let easy = EasyHandle(fields: [], defaults: [])
        else {
            return nil
        }
        let stream = RawStream(pool: self, easy: easy, url: url, settings: settings, delegate: delegate)
        easy.setUp(url, timeoutMilliseconds)
        easy.set(CURLOPT_PRIVATE, pointer: UnsafeRawPointer(Unmanaged.passUnretained(stream).toOpaque()))
        CCurl_set_open_socket(easy.raw, openSocket)
        easy.set(CURLOPT_OPENSOCKETDATA, pointer: UnsafeRawPointer(Unmanaged.passUnretained(stream).toOpaque()))
        CCurl_set_close_socket(easy.raw, closeSocket)
        CCurl_set_write(easy.raw, CURLOPT_HEADERFUNCTION, receiveTunnelLine)
        easy.set(CURLOPT_HEADERDATA, pointer: UnsafeRawPointer(Unmanaged.passUnretained(stream).toOpaque()))
        easy.set(CURLOPT_CLOSESOCKETDATA, pointer: UnsafeRawPointer(Unmanaged.passUnretained(loop).toOpaque()))
        streams[ObjectIdentifier(stream)] = stream
        guard isTrustReady(for: stream) else { return stream }
        guard connect(stream) else {
            streams[ObjectIdentifier(stream)] = nil
            easy.close()
            return nil
        }
        return stream
    }

    /// Whether the certificate authorities are loaded, if the stream needs them; if not, it connects when they are.
    private func isTrustReady(for stream: RawStream) -> Bool {
        guard stream.url.origin.scheme == "https", stream.trust.needsAuthorities else { return true }
        let authorities = stream.trust.authorities
        guard !systemTrust.isReady(for: authorities) else { return true }
        systemTrust.wait(for: authorities) { [weak self, weak stream] in
            guard let self, let stream, streams[ObjectIdentifier(stream)] === stream, isTrustReady(for: stream) else {
                return
            }
            if !connect(stream) { stream.didFailToConnect(CURLE_OUT_OF_MEMORY) }
        }
        return false
    }

    private func connect(_ stream: RawStream) -> Bool {
        if stream.url.origin.scheme == "https" {
            stream.authorities = systemTrust.store(for: stream.trust.authorities)
            stream.trustStore = stream.easy.setTrust(stream.trust, store: stream.authorities, configuration)
            stream.easy.secure(stream)
        }
        if let addresses = stream.settings?.values.addresses { stream.easy.setAddresses(addresses) }
        if let proxy = stream.settings?.values.proxy {
            stream.easy.setProxy(proxy, isTunnel: true)
            if !proxy.kind.isSOCKS { stream.easy.set(CURLOPT_HTTPPROXYTUNNEL, 1) }
        }
        return curl_multi_add_handle(raw, stream.easy.raw) == CURLM_OK
    }

    func close(_ stream: RawStream) {
        guard streams.removeValue(forKey: ObjectIdentifier(stream)) != nil else { return }
        stream.didClose()
        // libcurl closes the connection with its handle.
        curl_multi_remove_handle(raw, stream.easy.raw)
        stream.easy.close()
    }

    // MARK: Driving libcurl

    /// A socket of a connection that is being made is ready.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        var bits: Int32 = 0
        if readiness.contains(.readable) { bits |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { bits |= CURL_CSELECT_OUT }
        if readiness.contains(.failed) { bits |= CURL_CSELECT_ERR | CURL_CSELECT_IN }
        if readiness.contains(.unwatched) { bits = CURL_CSELECT_IN | CURL_CSELECT_OUT }
        callSocketAction(fd, bits)
    }

    private func callSocketAction(_ descriptor: Int32, _ bits: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(raw, descriptor, bits, &running)
        var left: Int32 = 0
        var finished: [(RawStream, CURLcode)] = []
        while let message = curl_multi_info_read(raw, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let context = CCurl_get_private(easy)
            else { continue }
            let stream = Unmanaged<RawStream>.fromOpaque(context).takeUnretainedValue()
            finished.append((stream, CCurl_message_result(message)))
        }
        for (stream, code) in finished {
            if code == CURLE_OK {
                stream.didConnect()
            } else if !asksAboutServer(of: stream) {
                stream.didFailToConnect(code)
            }
        }
    }

    /// Asks the caller who has to decide about a server before there can be a connection, and connects again if the
    /// answer is yes. Returns whether there is a question.
    private func asksAboutServer(of stream: RawStream) -> Bool {
        guard let pending = stream.nextQuestion() else { return false }
        curl_multi_remove_handle(raw, stream.easy.raw)
        var isAnswered = false
        pending.custom.decide(pending.question) { [weak self, weak stream] answer in
            guard let self, let stream, streams[ObjectIdentifier(stream)] === stream, !isAnswered else { return }
            isAnswered = true
            stream.decided(answer, pending.acceptance)
            if stream.failure == nil, curl_multi_add_handle(raw, stream.easy.raw) != CURLM_OK {
                stream.didFailToConnect(CURLE_OUT_OF_MEMORY)
            }
        }
        return true
    }

    // MARK: Callbacks; nothing here may call libcurl

    fileprivate func setInterest(_ what: Int32, for descriptor: Int32) {
        let interest = Interest(poll: what)
        if !interest.isEmpty {
            watched.insert(descriptor)
            loop.setInterest(interest, for: descriptor, handler: self)
        } else if watched.remove(descriptor) != nil {
            loop.forget(descriptor)
        }
    }

    fileprivate func setTimer(_ milliseconds: Int) {
        guard let timer else { return }
        if milliseconds < 0 {
            loop.cancel(timer)
        } else {
            // libcurl cuts off parts of a millisecond.
            let wait = milliseconds == 0 ? 0 : milliseconds &+ 1
            loop.arm(timer, at: MonotonicTime.read().advanced(milliseconds: wait))
        }
    }
}

extension EasyHandle {
    fileprivate func setUp(_ url: HTTPURL, _ timeoutMilliseconds: Int) {
        set(CURLOPT_CURLU, pointer: UnsafeRawPointer(url.handle))
        set(CURLOPT_CONNECT_ONLY, 1)
        set(CURLOPT_FRESH_CONNECT, 1)
        set(CURLOPT_PROTOCOLS_STR, text: url.origin.scheme)
        set(CURLOPT_PROXY, text: "")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, min(max(1, timeoutMilliseconds), Int(Int32.max)))
        // The handle serves all users: the time of resolving a name must not show whether another user has resolved
        // it.
        set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
    }

    fileprivate func secure(_ stream: RawStream) {
        setVersions(stream.settings?.values.tls)
        CCurl_set_tls_setup(raw, setUpTLS)
        set(CURLOPT_SSL_CTX_DATA, pointer: UnsafeRawPointer(Unmanaged.passUnretained(stream).toOpaque()))
        // ALPN is not used, and TLS sessions are not shared between streams with different trust.
        set(CURLOPT_SSL_ENABLE_ALPN, 0)
        set(CURLOPT_SSL_SESSIONID_CACHE, 0)
    }
}

private func setUpTLS(
    _ easy: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?, _ data: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let context, let data else { return CURLE_SSL_CIPHER }
    let stream = Unmanaged<RawStream>.fromOpaque(data).takeUnretainedValue()
    guard stream.beginEvaluation(),
        EasyHandle.prepareTLS(
            context, stream.trustStore, stream.settings?.values.tls, stream.evaluations.latest)
    else { return CURLE_SSL_CIPHER }
    let authentication = ClientAuthentication(stream.settings?.values.certificate)
    stream.authentication = authentication
    return authentication.install(on: context) ? CURLE_OK : CURLE_SSL_CERTPROBLEM
}

/// There are no other heads: what follows CONNECT is the stream's.
private func receiveTunnelLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let stream = Unmanaged<RawStream>.fromOpaque(context).takeUnretainedValue()
    return stream.tunnelAnswers.accepts(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
}

private func socketInterestChanged(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: Int32, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<RawStreamPool>.fromOpaque(context).takeUnretainedValue().setInterest(what, for: descriptor)
    return 0
}

private func timerChanged(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<RawStreamPool>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
    return 0
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> Int32 {
    guard let address = address?.pointee else { return -1 }
    let made = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
    if made < 0, Shortage.noteIfShort(errno), let context {
        Unmanaged<RawStream>.fromOpaque(context).takeUnretainedValue().lacksSocket = true
    }
    return made
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: Int32) -> Int32 {
    if let context { Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().forget(descriptor) }
    return close(descriptor)
}
