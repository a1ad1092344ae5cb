package import CarpoolClient
package import CarpoolJSON
package import CarpoolSystem
internal import Glibc

/// A connection to the daemon that throws ``Failure``.
package struct DaemonAccess {
    private let client: DaemonClient

    /// Connects to the daemon at a socket, or to the user's own, which is started if none runs.
    package init(socket: String?) throws(Failure) {
        try self.init(DaemonFinder(location: SocketLocation.resolve(option: socket)))
    }

    package init(_ finder: DaemonFinder) throws(Failure) {
        do throws(ClientError) {
            client = try DaemonClient(finder)
        } catch {
            throw Failure(error)
        }
    }

    /// Calls the closure with the parameters of each event, whichever call waits for its answer.
    package func onEvent(_ body: @escaping (JSON) -> Void) { client.onEvent = body }

    /// Whether the daemon runs as this user, and so has the same access to files.
    package var isOurs: Bool { client.daemonUID == geteuid() }

    package func call(
        _ method: String, passing descriptors: PassedDescriptors = .none, _ params: (inout JSONWriter) -> Void
    ) throws(Failure) -> JSON {
        do throws(ClientError) {
            return try client.call(method, passing: descriptors, params)
        } catch {
            throw Failure(error)
        }
    }

    /// Sends a call, and returns its number; ``receive()`` returns its answer, and its events before it.
    @discardableResult
    package func begin(
        _ method: String, passing descriptors: PassedDescriptors, _ params: (inout JSONWriter) -> Void
    ) throws(Failure) -> Int64 {
        do throws(ClientError) {
            return try client.begin(method, passing: descriptors, params)
        } catch {
            throw Failure(error)
        }
    }

    /// The descriptor of the connection: it is readable when the daemon has sent something.
    package var descriptor: Int32 { client.descriptor }

    /// Reads once, and returns the complete messages.
    package func receive() throws(Failure) -> [DaemonClient.Message] {
        do throws(ClientError) {
            return try client.receiveMessages()
        } catch {
            throw Failure(error)
        }
    }

    /// Reads once, and passes the complete messages of several calls to the receiver.
    package func receiveReplies(for receiver: any DaemonReplies) throws(Failure) {
        do throws(ClientError) {
            try client.receiveReplies(for: receiver)
        } catch {
            throw Failure(error)
        }
    }

    package func call(_ method: String) throws(Failure) -> JSON {
        try call(method) { $0.raw(Array("{}".utf8)) }
    }

    /// Releases a body in the spool, which the daemon keeps for the answer of `request.perform` until then.
    package func releaseBody(of record: JSON) {
        guard record["body"]?["file"] != nil, let id = record["request"]?.string else { return }
        // If that fails, the daemon deletes the body after its lease.
        _ = try? call("body.release") { writer in
            writer.beginObject()
            writer.member("request", id)
            writer.endObject()
        }
    }

    /// Waits until the daemon closes the connection; returns `false` after the timeout.
    package func waitForClose(milliseconds: Int) -> Bool { client.waitForClose(milliseconds: milliseconds) }
}
