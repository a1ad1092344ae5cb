internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// An exchange in the daemon: a call of `request.perform`. A short body is in its answer, and the daemon asks for a
/// pipe for any other one. Releasing it before its answer cancels the request.
final class CurlCall {
    private let context: CurlContext
    private var channel: CurlChannel
    private var exchange: CurlExchange
    let sending: CurlSending
    private var pipe: FileDescriptor?
    private var reply: CurlReply?
    /// The call that has to succeed before this one begins.
    private let predecessor: CurlReply?
    /// The end of the pipe that has the response's body; -1 if there is none.
    private(set) var output: Int32 = -1
    /// How often the call was sent: again after the session was made, and to the next daemon.
    private(set) var sendings = 0
    private static let maximumSendings = 40
    /// The pause before a call is sent once more: a daemon that ends may accept connections for another second.
    private static let pauseMicroseconds: UInt32 = 50_000

    /// Sends a call.
    /// - Parameter predecessor: the call that has to succeed before the request begins.
    init(
        _ exchange: CurlExchange, _ sending: CurlSending, _ context: CurlContext, after predecessor: CurlCall? = nil
    ) throws(Failure) {
        self.context = context
        self.exchange = exchange
        self.sending = sending
        if let predecessor { channel = predecessor.channel } else { channel = try context.daemons.channel() }
        self.predecessor = predecessor?.reply
        self.exchange.predecessor = predecessor?.reply?.number
        do throws(Failure) {
            try begin()
        } catch {
            // A connection that the daemon has closed since the last call.
            guard error.isUnread else { throw error }
            try sendAgain(after: error)
        }
    }

    /// Sends the call once more, on another connection if its own has ended.
    private func sendAgain(after error: Failure) throws(Failure) {
        var error = error
        while true {
            try prepareAnother(after: error)
            do throws(Failure) {
                return try begin()
            } catch let next {
                guard next.isUnread else { throw next }
                error = next
            }
        }
    }

    private func begin() throws(Failure) {
        sendings += 1
        pipe = nil
        output = -1
        reply = try channel.begin(
            "request.perform", passing: sending.descriptors, isMetered: exchange.isMetered
        ) { exchange.write(to: &$0) }
    }

    /// Passes the pipe that the daemon asks for.
    private func pass(outputOf request: String) throws(Failure) {
        let ends: (read: Int32, write: Int32)
        do throws(SystemError) {
            ends = try FileDescriptor.pipe()
        } catch {
            throw Failure(.transferFailed, "cannot make a pipe: \(error.reason)")
        }
        pipe = FileDescriptor(owning: ends.read)
        output = ends.read
        let writeEnd = FileDescriptor(owning: ends.write)
        try channel.send("request.output", passing: PassedDescriptors(writeEnd.raw)) { writer in
            writer.beginObject()
            writer.member("request", request)
            writer.member("fd", 0)
            writer.endObject()
        }
    }

    deinit { if !isAnswered, let reply { channel.cancel(reply) } }

    /// Whether the record was taken.
    private(set) var isAnswered = false

    /// Whether another call can follow on the same connection.
    var takesFollower: Bool { channel.takesCalls }

    /// The bytes of the body that were sent, if the exchange is metered.
    var sentBytes: Int64 { reply?.sentBytes ?? 0 }

    /// Whether ``take()`` has something to do.
    var hasAnswer: Bool { reply?.hasContent ?? false }

    /// The record, once, if it has arrived.
    func take() throws(Failure) -> JSON? {
        do throws(Failure) {
            if let request = reply?.takeRequest() { try pass(outputOf: request) }
            let record = try reply?.takeRecord()
            if record != nil { isAnswered = true }
            return record
        } catch {
            try sendAgain(after: error)
            return nil
        }
    }

    /// Makes what was missing; rethrows an error after which the call is not sent again.
    private func prepareAnother(after error: Failure) throws(Failure) {
        // One that waits for another begins in the next daemon, if this one has ended before it answered the other.
        let hasBegun = exchange.predecessor == nil || predecessor?.isAnswered ?? true
        exchange.predecessor = nil
        switch error.refusal {
        // It was not carried out, because the exchange before it has failed or was a redirect.
        case "request.skipped":
            sendings -= 1
            context.lookAhead.didSkip()
        case _ where sendings >= CurlCall.maximumSendings: throw error
        case "session.not_found" where exchange.session != nil:
            exchange.session = nil
            context.sessions.removeAll()
        case "session.not_found":
            _ = try context.daemons.call("session.create") { CurlExchange.writeSession(to: &$0) }
        // In another namespace, or with fewer permissions: nothing was sent, and what the files have can be.
        case "file.other_view" where exchange.operation.settings.readAllFiles(): exchange.session = nil
        // The connection has ended, and the next daemon can be started.
        case "draining": channel = try context.daemons.channel()
        case nil where error.isUnread || (error.isDisconnected && !hasBegun):
            if sendings > 2 { usleep(CurlCall.pauseMicroseconds) }
            channel = try context.daemons.channel()
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
}

/// A first request that was sent before its transfer has begun.
final class CurlPreparedCall {
    let hop: CurlHop
    let exchange: CurlExchange
    let call: CurlCall

    init(_ hop: CurlHop, _ exchange: CurlExchange, _ call: CurlCall) {
        self.hop = hop
        self.exchange = exchange
        self.call = call
    }
}
