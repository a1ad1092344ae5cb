internal import CCurl
internal import COverrides
internal import Glibc

// Callbacks of libcurl for a transfer. Plain functions, since C functions capture nothing: each finds its object
// through the pointer that was set with it. None of them calls libcurl, except to read from its own handle.

extension EasyHandle {
    /// Enables libcurl's debug messages, which cost a fifth of the CPU time of a request over HTTP/2.
    func installMessages(for transfer: CurlTransfer) {
        CCurl_set_debug(raw, receiveMessage)
        set(CURLOPT_DEBUGDATA, pointer: UnsafeRawPointer(Unmanaged.passUnretained(transfer).toOpaque()))
        set(CURLOPT_VERBOSE, 1)
    }

    /// Installs libcurl's callbacks for a transfer, which must be kept alive until the handle is closed.
    func installCallbacks(for transfer: CurlTransfer) {
        let context = UnsafeRawPointer(Unmanaged.passUnretained(transfer).toOpaque())
        set(CURLOPT_PRIVATE, pointer: context)
        CCurl_set_write(raw, CURLOPT_HEADERFUNCTION, receiveHeaderLine)
        set(CURLOPT_HEADERDATA, pointer: context)
        CCurl_set_write(raw, CURLOPT_WRITEFUNCTION, receiveBody)
        set(CURLOPT_WRITEDATA, pointer: context)
        _ = observesStreams
        CCurl_set_prereq(raw, requestIsAboutToBeSent)
        set(CURLOPT_PREREQDATA, pointer: context)
        if transfer.request.usesTLS {
            CCurl_set_tls_setup(raw, setUpTLS)
            set(CURLOPT_SSL_CTX_DATA, pointer: context)
        }
        CCurl_set_open_socket(raw, openSocket)
        set(CURLOPT_OPENSOCKETDATA, pointer: context)
        // A connection outlives the transfer that made it, so its end is reported to the table.
        let table = UnsafeRawPointer(Unmanaged.passUnretained(transfer.transport.connections).toOpaque())
        CCurl_set_close_socket(raw, closeSocket)
        set(CURLOPT_CLOSESOCKETDATA, pointer: table)
        if transfer.request.body.lengthBytes != 0 {
            CCurl_set_read(raw, provideBody)
            set(CURLOPT_READDATA, pointer: context)
            CCurl_set_seek(raw, rewindBody)
            set(CURLOPT_SEEKDATA, pointer: context)
        }
    }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
}

private func receiveHeaderLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context)?.receiveHeaderLine(UnsafeRawBufferPointer(start: bytes, count: count)) ?? 0
}

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context)?.receiveBody(UnsafeRawBufferPointer(start: bytes, count: count)) ?? 0
}

private func provideBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size &* count)
    return transfer(context)?.provideBody(into: buffer) ?? Int(CURL_READFUNC_ABORT)
}

private func rewindBody(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard origin == SEEK_SET, offset == 0, let transfer = transfer(context) else { return CURL_SEEKFUNC_FAIL }
    return transfer.beginBody() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}

private func requestIsAboutToBeSent(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
    _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let transfer = transfer(context) else { return CURL_PREREQFUNC_ABORT }
    let maySend = transfer.willSend(
        localPort: UInt16(truncatingIfNeeded: localPort),
        endpoints: OriginConnection.Endpoints(
            remoteAddress: remote.map { String(cString: $0) } ?? "",
            remotePort: UInt16(truncatingIfNeeded: remotePort),
            localAddress: local.map { String(cString: $0) } ?? "",
            localPort: UInt16(truncatingIfNeeded: localPort)))
    return maySend ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// Installs the functions for the streams of all transfers.
private let observesStreams: Bool = {
    COverrides_on_event(streamHasEvent)
    COverrides_on_cut(streamIsBeingCut, isStreamCut)
    return true
}()

private func streamHasEvent(_ easy: UnsafeMutableRawPointer?, _ event: COverrides_event) {
    guard let easy, let transfer = transfer(CCurl_get_private(easy)) else { return }
    switch event {
    case COverrides_end_received: transfer.responseHasEnded()
    case COverrides_data_sent: transfer.streamHasSentData()
    case COverrides_end_sent: transfer.hasEndedStream = true
    default: transfer.streamHasClosed()
    }
}

private func streamIsBeingCut(_ easy: UnsafeMutableRawPointer?, _ session: UnsafeRawPointer?, _ stream: Int32) {
    guard let easy, let session, let transfer = transfer(CCurl_get_private(easy)) else { return }
    transfer.cutStream = CurlTransfer.StreamID(session: session, number: stream)
}

private func isStreamCut(_ easy: UnsafeMutableRawPointer?, _ session: UnsafeRawPointer?, _ stream: Int32) -> Bool {
    guard let easy, let session, let transfer = transfer(CCurl_get_private(easy)) else { return false }
    return transfer.cutStream == CurlTransfer.StreamID(session: session, number: stream)
}

private func receiveMessage(
    _ easy: UnsafeMutableRawPointer?, _ kind: curl_infotype, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    if kind == CURLINFO_TEXT { transfer(context)?.receiveMessage(UnsafeRawBufferPointer(start: bytes, count: count)) }
    return 0
}

private func setUpTLS(
    _ easy: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?, _ data: UnsafeMutableRawPointer?
) -> CURLcode {
    // The transfer that makes a connection lives as long as its handshake, the only time at which this is called.
    guard let context, let transfer = transfer(data) else { return CURLE_SSL_CIPHER }
    if transfer.beginsWithProxy() {
        return EasyHandle.prepareTLS(context, transfer.authorities, nil, nil) ? CURLE_OK : CURLE_SSL_CIPHER
    }
    guard transfer.beginEvaluation(),
        EasyHandle.prepareTLS(
            context, transfer.trustStore, transfer.request.partition.tls, transfer.evaluations.latest)
    else { return CURLE_SSL_CIPHER }
    guard transfer.recordsVerification(on: context) else { return CURLE_SSL_CIPHER }
    if let error = transfer.authentication?.state.error {
        // libcurl repeats a request by itself, for instance over HTTP/2. The server would refuse it again.
        transfer.failure = error
        return CURLE_SSL_CERTPROBLEM
    }
    let authentication = ClientAuthentication(transfer.request.partition.certificate)
    transfer.authentication = authentication
    return authentication.install(on: context) ? CURLE_OK : CURLE_SSL_CERTPROBLEM
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> Int32 {
    guard let address, let transfer = transfer(context) else { return -1 }
    if let socket = transfer.request.partition.addresses?.socket { return transfer.openUnixSocket(socket, address) }
    return transfer.openSocket(
        family: address.pointee.family, type: address.pointee.socktype, protocol: address.pointee.protocol,
        isLoopback: isLoopback(address))
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: Int32) -> Int32 {
    guard let context else { return close(descriptor) }
    return Unmanaged<ConnectionTable>.fromOpaque(context).takeUnretainedValue().close(descriptor)
}

/// Whether an address is IPv6's own of this machine (RFC 4291, section 2.5.3). Its bytes lie after the structure
/// that C knows of, and in them after family, port and flow information.
private func isLoopback(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
    guard address.pointee.family == AF_INET6, address.pointee.addrlen >= MemoryLayout<sockaddr_in6>.size,
        let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr)
    else { return false }
    let bytes = UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + start + 8, count: 16)
    return bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
}
