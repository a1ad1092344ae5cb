internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// An exchange in the daemon: a call of `request.perform`, whose body comes through a pipe. To give it up is to release
/// it: the daemon cancels the request of a connection that is closed.
final class CurlCall {
    private let daemons: CurlDaemons
    private var daemon: DaemonAccess
    private let exchange: CurlExchange
    let sending: CurlSending
    private var pipe: FileDescriptor?
    /// The end of the pipe that has the response's body.
    private(set) var output: Int32 = -1
    /// How often the call was sent: again, with another pipe, after the session was made, and to the next daemon.
    private(set) var sendings = 0
    private static let maximumSendings = 4
    /// How long a daemon that drains is waited for: the default of a drain, and time to close.
    private static let drainMilliseconds = 35_000

    init(_ exchange: CurlExchange, _ sending: CurlSending, _ daemons: CurlDaemons) throws(Failure) {
        self.daemons = daemons
        self.exchange = exchange
        self.sending = sending
        daemon = try daemons.take()
        try begin()
    }

    private func begin() throws(Failure) {
        sendings += 1
        let ends: (read: Int32, write: Int32)
        do throws(SystemError) {
            ends = try FileDescriptor.pipe()
        } catch {
            throw Failure(.transferFailed, "cannot make a pipe: \(error.reason)")
        }
        pipe = FileDescriptor(owning: ends.read)
        output = ends.read
        let writeEnd = FileDescriptor(owning: ends.write)
        let passed =
            sending.descriptor < 0
            ? PassedDescriptors(writeEnd.raw) : PassedDescriptors(writeEnd.raw, sending.descriptor)
        try daemon.begin("request.perform", passing: passed) { exchange.write(to: &$0) }
    }

    /// The descriptor of the connection: it is readable when the daemon has sent something.
    var descriptor: Int32 { daemon.descriptor }

    /// Reads once, and returns the record if it has arrived.
    func receive() throws(Failure) -> JSON? {
        do throws(Failure) {
            for message in try daemon.receive() {
                if case .answer(let record) = message { return record }
            }
            return nil
        } catch {
            try prepareAnother(after: error)
            try begin()
            return nil
        }
    }

    /// Makes what was missing; rethrows an error after which the call is not sent again.
    private func prepareAnother(after error: Failure) throws(Failure) {
        guard sendings < CurlCall.maximumSendings else { throw error }
        switch error.refusal {
        case "session.not_found":
            _ = try daemon.call("session.create") { CurlExchange.writeSession(to: &$0) }
        case "draining":
            _ = daemon.waitForClose(milliseconds: CurlCall.drainMilliseconds)
            daemon = try daemons.connect()
        case nil where error.isUnread: daemon = try daemons.connect()
        default: throw error
        }
    }

    /// Reads the pipe once; returns what it has, nothing at its end.
    func readOutput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: CurlCall.readBytes)
        let result = bytes.withUnsafeMutableBytes { Bytes.read(output, into: $0) }
        guard case .bytes(let count) = result else { return [] }
        return Array(bytes[..<count])
    }

    private static let readBytes = 16_384

    /// Gives the connection back after the record.
    func finish() { daemons.put(daemon) }
}
