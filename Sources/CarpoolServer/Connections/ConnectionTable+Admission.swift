internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

// Accepting and rejecting peers.
extension ConnectionTable {
    /// Accepts a peer, or rejects it with a reason, by the credentials from the kernel.
    func admit(_ fd: consuming FileDescriptor) {
        let credentials: PeerCredentials
        do throws(SystemError) { credentials = try PeerCredentials(of: fd.raw) } catch { return }
        accepted += 1
        guard let role = configuration.access.role(of: credentials.uid) else {
            return refuse(
                fd, credentials,
                .forbidden(
                    "uid \(credentials.uid) may not use this daemon; its configuration can list it under access.uids"))
        }
        guard !services.worker.hasTooManyToClose(credentials.uid) else {
            return refuse(fd, credentials, .tooManyToClose())
        }
        let identity = ClientIdentity(unnamed: credentials)
        let ticket: QuotaLedger.Ticket
        do throws(Quota.Refusal) {
            ticket = try quota.take(for: identity, services.limits.connectionBounds)
        } catch {
            return refuse(fd, credentials, .tooManyConnections(error))
        }
        let connection = Connection(
            number: accepted, fd: fd, credentials: credentials, identity: identity, role: role,
            ticket: ticket, services: services, owner: self)
        self[connection.number] = connection
        log.write(
            .debug, "connected",
            [("client", "c-\(connection.number)"), ("uid", String(credentials.uid)), ("pid", String(credentials.pid))])
        didChange()
    }

    /// Refuses a peer that was accepted with a spare descriptor.
    func refuse(_ fd: consuming FileDescriptor, forLackOf code: Int32) {
        let credentials: PeerCredentials
        do throws(SystemError) { credentials = try PeerCredentials(of: fd.raw) } catch { return }
        refuse(fd, credentials, .shortage(code))
    }

    /// Maximum number of peers that are being rejected at a time; more are closed at once, to save descriptors.
    private static let maximumRejected = 64

    /// Sends one line with the reason.
    private func refuse(_ fd: consuming FileDescriptor, _ credentials: PeerCredentials, _ error: RPCError) {
        refused += 1
        log.write(
            .warning, "refused",
            [("uid", String(credentials.uid)), ("pid", String(credentials.pid)), ("error", error.message)])
        var writer = JSONWriter()
        Reply.write(id: nil, error: error, to: &writer)
        writer.append(verbatim: [UInt8(ascii: "\n")])
        let share = WorkerShare(user: credentials.uid, client: "refused")
        guard rejected.count < ConnectionTable.maximumRejected, !services.worker.hasTooManyToClose(credentials.uid)
        else {
            let raw = fd.raw
            _ = writer.withBytes { Bytes.send(raw, $0) }
            // No more input can arrive; without descriptors, closing does not block.
            if services.buffers.withReadBuffer({ UnixSocket.shutDown(raw, reading: $0) }) {
                closeRejected(fd, for: share)
            }
            return
        }
        let buffer = { [services] (body: (UnsafeMutableRawBufferPointer) -> IOResult) in
            services.buffers.withReadBuffer(body)
        }
        let rejection = RejectedConnection(
            fd, line: writer.bytes, worker: services.worker.access(for: share), loop: services.loop, buffer: buffer
        ) { [unowned self] in rejected[ObjectIdentifier($0)] = nil }
        rejected[ObjectIdentifier(rejection)] = rejection
    }

    /// Closes the socket of a rejected peer, and with it the descriptors that the peer has passed, on a thread, since
    /// that may block.
    private func closeRejected(_ fd: consuming FileDescriptor, for share: WorkerShare) {
        closingRejected += 1
        services.worker.close([fd.release()], for: share) { [weak self] in self?.closingRejected -= 1 }
    }

    /// Whether peers are accepted. None is accepted while sockets of rejected peers that wait to be closed use a
    /// quarter of the process's descriptors: the rest is for open connections and files.
    var acceptsPeers: Bool {
        guard closingRejected > 0, closingRejected >= (ResourceLimits.openFiles ?? 1_024) / 4 else { return true }
        log.write(
            .warning, "accepting is paused: too many sockets of refused clients wait for close(2)",
            [("refused_sockets_to_close", String(closingRejected))])
        return false
    }
}
