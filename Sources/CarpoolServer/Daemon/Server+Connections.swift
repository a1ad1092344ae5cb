internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

// Who comes in, and who goes.
extension Server {
    /// Takes a peer in, or shows it out with the reason: by the credentials that the kernel vouches for.
    func admit(_ fd: consuming FileDescriptor) {
        let credentials: PeerCredentials
        do throws(SystemError) { credentials = try PeerCredentials(of: fd.raw) } catch { return }
        statistics.connections &+= 1
        guard let role = access.role(of: credentials.uid) else {
            return refuse(
                fd, credentials,
                .forbidden(
                    "uid \(credentials.uid) may not use this daemon; its configuration can list it under access.uids"))
        }
        guard !worker.hasTooManyToClose(credentials.uid) else {
            return refuse(fd, credentials, .tooManyToClose())
        }
        let identity = ClientIdentity(unnamed: credentials)
        let ticket: QuotaLedger.Ticket
        do throws(Quota.Refusal) {
            ticket = try connectionQuota.take(for: identity, limits.connectionBounds)
        } catch {
            return refuse(fd, credentials, .tooManyConnections(error))
        }
        let connection = Connection(
            number: statistics.connections, fd: fd, credentials: credentials, identity: identity, role: role,
            ticket: ticket, server: self)
        connections[connection.number] = connection
        log.write(
            .debug, "connected",
            [("client", "c-\(connection.number)"), ("uid", String(credentials.uid)), ("pid", String(credentials.pid))])
        armIdleExit()
    }

    /// Has the connections of a user read again, or not any more, when that has to do with descriptors that cannot be closed.
    func closingDidChange(of uid: UInt32) {
        for connection in connections.values where connection.uid == uid { connection.settle() }
    }

    func connectionDidClose(_ connection: Connection) {
        connections[connection.number] = nil
        log.write(.debug, "disconnected", [("client", "c-\(connection.number)")])
        releaseLeases(of: connection)
        endIfStopped()
        armIdleExit()
    }

    /// A connection that has closed has let go of all that was done for it alone.
    func connectionLetGo(_ connection: Connection) { releaseLeases(of: connection) }

    /// Removes bodies on lease whose client has no connection any more. The connection that asked for a body holds it too: a client that takes
    /// another name keeps what it was given under the first one.
    private func releaseLeases(of gone: Connection) {
        let leases = spool.leases(of: gone.identity, connection: gone.number)
        guard !leases.isEmpty else { return }
        let present = Set(connections.values.map(\.identity))
        for body in leases where connections[body.connection] == nil {
            if let owner = body.owner, present.contains(owner) { continue }
            spool.remove(body)
        }
    }

    /// Peers that are being shown out at a time; more are closed at once, for a crowd of them must not cost the daemon its descriptors.
    private static let maximumFarewells = 64

    /// One line with the reason, whatever the peer was about to ask.
    private func refuse(_ fd: consuming FileDescriptor, _ credentials: PeerCredentials, _ error: RPCError) {
        statistics.refusedConnections &+= 1
        log.write(
            .warning, "refused",
            [("uid", String(credentials.uid)), ("pid", String(credentials.pid)), ("error", error.message)])
        var writer = JSONWriter()
        Reply.write(id: nil, error: error, to: &writer)
        writer.append(verbatim: [UInt8(ascii: "\n")])
        let share = WorkerShare(user: credentials.uid, client: "refused")
        guard farewells.count < Server.maximumFarewells, !worker.hasTooManyToClose(credentials.uid) else {
            let raw = fd.raw
            _ = writer.withBytes { Bytes.send(raw, $0) }
            // Nothing can come any more; without descriptors, closing does not block.
            if withReadBuffer({ UnixSocket.shutDown(raw, reading: $0) }) { closeRefused(fd, for: share) }
            return
        }
        let buffer = { [unowned self] (body: (UnsafeMutableRawBufferPointer) -> IOResult) in withReadBuffer(body) }
        let farewell = Farewell(
            fd, line: writer.bytes, worker: worker.access(for: share), loop: loop, buffer: buffer
        ) { [unowned self] in farewells[ObjectIdentifier($0)] = nil }
        farewells[ObjectIdentifier(farewell)] = farewell
    }

    /// Closes the socket of a refused peer, and with it the descriptors that the peer has passed, on a thread, since that may block.
    private func closeRefused(_ fd: consuming FileDescriptor, for share: WorkerShare) {
        closingRefused += 1
        worker.close([fd.release()], for: share) { [weak self] in self?.closingRefused -= 1 }
    }

    /// Whether peers are accepted. While sockets of refused peers that wait to be closed take a quarter of the descriptors that the process may
    /// have, none is: the rest is for open connections and for files.
    var acceptsPeers: Bool {
        guard closingRefused > 0, closingRefused >= (ResourceLimits.openFiles ?? 1_024) / 4 else { return true }
        log.write(.warning, "no connection is accepted", [("refused_sockets_to_close", String(closingRefused))])
        return false
    }
}

extension Server {
    /// Refuses a client that is shut off from the daemon's network or files, where the configuration says that such clients get no network.
    func checkNetwork(of client: any Client) throws(RPCError) {
        guard !configuration.allowsSandboxedNetwork, let part = client.enclosure else { return }
        throw .forbidden(
            "the daemon makes no connections for this client, which differs in: \(part.rawValue)",
            hint: "Leave the sandbox, or have the daemon's owner set access.sandboxed_network to true.")
    }
}
