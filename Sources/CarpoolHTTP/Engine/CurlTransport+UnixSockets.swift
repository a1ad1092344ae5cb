internal import CCurl
internal import CarpoolSystem
internal import Glibc

/// Connections over Unix sockets.
///
/// libcurl gets a name that leads nowhere (``EasyHandle/socketName``), for all of them: the partition keeps connections
/// to different sockets apart, and the callback that opens the socket has the real one.
extension CurlTransport {
    /// Whether the Unix socket of a transfer was looked up, if it has one; if not, the transfer is queued when it is,
    /// since a file system may take long.
    func isSocketReady(for transfer: CurlTransfer) -> Bool {
        guard transfer.socketFile == nil, case .path(let path)? = transfer.request.partition.addresses?.socket else {
            return true
        }
        guard !transfer.isLookingUpSocket else { return false }
        transfer.isLookingUpSocket = true
        let share = WorkerShare(user: transfer.request.share.user, client: "unix sockets")
        worker.runAlways(for: share) { () -> Result<SocketFile, SystemError> in
            do throws(SystemError) { return .success(try SocketFile.open(path)) } catch { return .failure(error) }
        } then: { [weak self] result in
            self?.didLookUpSocket(result, for: transfer)
        }
        return false
    }

    private func didLookUpSocket(_ result: Result<SocketFile, SystemError>, for transfer: CurlTransfer) {
        transfer.isLookingUpSocket = false
        guard !transfer.hasEnded else { return }
        switch result {
        case .success(let file):
            transfer.socketFile = file
            requeue(transfer)
        case .failure(let error):
            guard !error.isShortage else {
                transfer.failure = transfer.failure ?? .shortage(error.code)
                return cancel(transfer)
            }
            let message = error.code == EOPNOTSUPP ? UnixSocketOrigin.remoteMessage : error.description
            transfer.failure =
                transfer.failure
                ?? TransportError(.cannotConnectToHost, message, systemCode: error.code, isRetryable: true)
            cancel(transfer)
        }
    }
}

extension UnixSocketOrigin {
    fileprivate static let remoteMessage =
        "the Unix socket is on a file system of another machine or process, which may take long to answer"
}

extension EasyHandle {
    /// The name that libcurl has for every Unix socket.
    private static let socketName = "/nonexistent"

    /// Makes a connection over a Unix socket. Without the identity of a connection, which older versions do not report,
    /// it could not be told which one a request uses: there, each request has its own. A connected socket serves one
    /// request.
    func setUnixSocket(_ socket: UnixSocketOrigin) {
        set(CURLOPT_UNIX_SOCKET_PATH, text: EasyHandle.socketName)
        var isConnected = false
        if case .connected = socket { isConnected = true }
        if isConnected { CCurl_set_socket_setup(raw) { _, _, _ in CURL_SOCKOPT_ALREADY_CONNECTED } }
        guard isConnected || CurlLibrary.profile == .http1 else { return }
        set(CURLOPT_FRESH_CONNECT, 1)
        forbidReuse()
    }

    /// Closes the connection when the transfer ends, unless other transfers use it.
    func forbidReuse() { set(CURLOPT_FORBID_REUSE, 1) }

    /// The number of the connection that the transfer uses; `nil` where libcurl does not report it.
    var connectionNumber: Int64? {
        guard CurlLibrary.profile == .multiplex else { return nil }
        let number = CCurl_get_connection_id(raw)
        return number < 0 ? nil : Int64(number)
    }
}

extension CurlTransfer {
    /// Records whether the end of the connection is that of the response's body (RFC 9112, section 6.3).
    func noteEnd(of head: ResponseHead) {
        endsWithConnection =
            headReader.version != "h2" && !head.fields.has("content-length")
            && !head.fields.has("transfer-encoding")
    }

    /// Fails if the passed socket has failed where its end is that of the body: half of it would pass for the whole.
    func checkRelay() {
        guard endsWithConnection, failure == nil, let code = connection?.relay?.failure else { return }
        failure = TransportError(
            .networkConnectionLost, "the passed socket failed before the end of the response", systemCode: code)
    }

    /// Opens the socket of a connection over a Unix socket.
    /// - Parameter address: the address that libcurl connects to, in which the real path is put.
    /// - Returns: the socket; -1 if there is none.
    func openUnixSocket(_ socket: UnixSocketOrigin, _ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        guard let pool else { return -1 }
        switch socket {
        case .path:
            guard let path = socketFile?.path, CCurl_set_unix_path(address, path) == 1,
                let attempt = transport.openSocket(
                    family: AF_UNIX, type: address.pointee.socktype, protocol: address.pointee.protocol, pool: pool,
                    mark: connectionMark)
            else { return -1 }
            connectAttempts.append(attempt)
            return attempt.descriptor
        case .connected(let socket):
            guard let attempt = transport.adopt(socket, pool: pool) else { return -1 }
            connectAttempts.append(attempt)
            return attempt.descriptor
        }
    }
}
