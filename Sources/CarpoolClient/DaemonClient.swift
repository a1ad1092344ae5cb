public import CarpoolJSON
public import CarpoolSystem
internal import Glibc

/// A blocking connection to the daemon, with one call at a time. It starts fast, for command line tools.
public final class DaemonClient {
    private let finder: DaemonFinder
    private var socket: FileDescriptor
    private var lines = LineBuffer()
    private var lastID: Int64 = 0
    /// A notification `client.hello` with the client's name; empty without a name.
    private let introduction: [UInt8]
    /// Called with the parameters of each notification `event`, whichever call waits for its answer.
    package var onEvent: ((JSON) -> Void)?
    /// Whether the introduction was sent on the current connection.
    private var isIntroduced = false

    /// The environment variable with the client's name. Programs with the same name count as one client.
    static let nameVariable = "CARPOOL_CLIENT"
    /// The maximum length of a name in `client.hello`.
    private static let nameBytes = 64

    /// Connects to the daemon; the finder starts one if none runs.
    public init(_ finder: DaemonFinder) throws(ClientError) {
        self.finder = finder
        introduction = try DaemonClient.introduction(name: Environment.process[DaemonClient.nameVariable])
        socket = try finder.connect()
    }

    /// The user id of the daemon; `nil` if the kernel does not report it.
    public var daemonUID: UInt32? { try? PeerCredentials(of: socket.raw).uid }

    static func introduction(name: String?) throws(ClientError) -> [UInt8] {
        guard let name else { return [] }
        guard name.utf8.count <= nameBytes else {
            throw .invalidName("it has \(name.utf8.count) bytes, more than \(nameBytes)")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", static: "2.0")
        writer.member("method", static: "client.hello")
        writer.key("params")
        writer.beginObject()
        writer.member("name", name)
        writer.endObject()
        writer.endObject()
        writer.append(verbatim: [UInt8(ascii: "\n")])
        return writer.bytes
    }

    /// Calls a method and returns its result. The closure writes one JSON object, the parameters.
    ///
    /// A daemon that shuts down may close the connection before it reads anything, or refuse new requests until the
    /// running ones have finished (`draining`). The call is then repeated on the next daemon.
    public func call(
        _ method: String, passing descriptors: PassedDescriptors = .none,
        _ params: (inout JSONWriter) -> Void = { $0.raw(Array("{}".utf8)) }
    ) throws(ClientError) -> JSON {
        let line = line(method, params)
        for _ in 1..<DaemonClient.attempts {
            if let answer = try exchangeUnlessDraining(line, descriptors) { return answer }
            try reconnect()
        }
        if let answer = try exchange(line, descriptors) { return answer }
        throw .disconnected("the daemon closed \(DaemonClient.attempts) connections before it read the call")
    }

    /// The maximum number of times a call is sent while daemons shut down.
    private static let attempts = 3
    /// Maximum time to wait for a draining daemon: the default of a drain, and time to close.
    private static let drainMilliseconds = 35_000

    /// Returns the answer; `nil` if the daemon closed the connection without accepting the call.
    private func exchangeUnlessDraining(_ line: [UInt8], _ descriptors: PassedDescriptors) throws(ClientError) -> JSON?
    {
        do throws(ClientError) {
            return try exchange(line, descriptors)
        } catch {
            guard case .refused(let remote) = error, remote.name == "draining",
                waitForClose(milliseconds: DaemonClient.drainMilliseconds)
            else { throw error }
            return nil
        }
    }

    private func line(_ method: String, _ params: (inout JSONWriter) -> Void) -> [UInt8] {
        lastID += 1
        var writer = JSONWriter()
        writer.reserve(1_024)
        writer.beginObject()
        writer.member("jsonrpc", static: "2.0")
        writer.member("id", lastID)
        writer.member("method", method)
        writer.key("params")
        params(&writer)
        writer.endObject()
        writer.append(verbatim: [UInt8(ascii: "\n")])
        return writer.bytes
    }

    /// Connects again, to the next daemon.
    package func reconnect() throws(ClientError) {
        socket = try finder.connect()
        isIntroduced = false
        lines = LineBuffer()
    }

    /// A message from the daemon.
    package enum Message {
        /// The result of the last call.
        case answer(JSON)
        /// The parameters of a notification `event`.
        case event(JSON)
    }

    /// Sends a call, and returns its number; `next` returns its answer.
    @discardableResult
    package func begin(
        _ method: String, passing descriptors: PassedDescriptors = .none, _ params: (inout JSONWriter) -> Void
    ) throws(ClientError) -> Int64 {
        guard send(line(method, params), descriptors) else {
            throw .unread
        }
        return lastID
    }

    /// The descriptor of the connection, for a caller that waits for several: it is readable when ``receiveMessages()``
    /// has something to read.
    package var descriptor: Int32 { socket.raw }

    /// Reads once, and returns the complete messages.
    package func receiveMessages() throws(ClientError) -> [Message] {
        guard try receive() else { throw .unread }
        var messages: [Message] = []
        while let message = try nextBuffered() { messages.append(message) }
        return messages
    }

    /// Reads once, and passes the complete messages to the receiver: for a caller with several calls under way.
    ///
    /// The error ``ClientError/unread`` says that the daemon has not read the last line. A reset shows no more.
    package func receiveReplies(for receiver: any DaemonReplies) throws(ClientError) {
        guard try receive(knowsLastLine: true) else { throw .unread }
        while true {
            switch lines.next() {
            case .line(let bytes): hand(try parse(bytes), to: receiver)
            case .tooLong: throw .protocolViolation("a message is longer than \(LineBuffer.maximumBytes) bytes")
            case .needsBytes: return
            }
        }
    }

    private func hand(_ message: JSON, to receiver: any DaemonReplies) {
        guard let call = message["id"]?.integer else {
            guard let method = message["method"]?.string, let params = message["params"] else { return }
            return receiver.notify(method, params)
        }
        do throws(ClientError) {
            receiver.answer(call, try result(of: message))
        } catch {
            receiver.refuse(call, error)
        }
    }

    /// The next complete message that was received; `nil` if there is none.
    private func nextBuffered() throws(ClientError) -> Message? {
        while true {
            switch lines.next() {
            case .line(let bytes): if let message = try message(of: bytes) { return message }
            case .tooLong: throw .protocolViolation("a message is longer than \(LineBuffer.maximumBytes) bytes")
            case .needsBytes: return nil
            }
        }
    }

    /// The message of a line; `nil` for the answer to an abandoned call.
    private func message(of line: ArraySlice<UInt8>) throws(ClientError) -> Message? {
        let message = try parse(line)
        if message["id"]?.integer == lastID { return .answer(try result(of: message)) }
        return event(in: message).map { .event($0) }
    }

    /// The parameters of an event; `nil` for another message.
    private func event(in message: JSON) -> JSON? {
        guard let params = message["params"], message["method"]?.isString("event") == true else { return nil }
        onEvent?(params)
        return params
    }

    /// Waits for the next message; returns `nil` at the deadline, or when one of the other descriptors is ready.
    func next(
        before deadline: MonotonicTime, or inputs: [Int32] = [], lossOf outputs: [Int32] = []
    ) throws(ClientError) -> Message? {
        while true {
            if let message = try nextBuffered() { return message }
            // The other descriptors first: an endless stream of events must not delay a signal.
            let ready = deadline.waitForInput(inputs + [socket.raw], orLossOf: outputs)
            guard ready == socket.raw else { return nil }
            guard try receive() else { throw .unread }
        }
    }

    /// Waits until the daemon closes the connection, with a timeout; returns whether it was closed.
    public func waitForClose(milliseconds: Int) -> Bool {
        let deadline = MonotonicTime.read().advanced(milliseconds: milliseconds)
        var scratch = [UInt8](repeating: 0, count: 4_096)
        while deadline.waitForInput(socket.raw) {
            switch scratch.withUnsafeMutableBytes({ Bytes.read(socket.raw, into: $0) }) {
            case .bytes, .wouldBlock: continue
            case .endOfFile, .failed: return true
            }
        }
        return false
    }

    /// Sends a line and returns its answer; `nil` if the daemon closed the connection without reading any of it.
    private func exchange(_ line: [UInt8], _ descriptors: PassedDescriptors) throws(ClientError) -> JSON? {
        guard send(line, descriptors) else { return nil }
        while true {
            let answer: JSON
            switch lines.next() {
            case .line(let bytes): answer = try parse(bytes)
            case .tooLong: throw .protocolViolation("an answer is longer than \(LineBuffer.maximumBytes) bytes")
            case .needsBytes:
                guard try receive() else { return nil }
                continue
            }
            // Everything else is an event, or the answer to an abandoned call.
            if answer["id"]?.integer == lastID || answer["id"]?.isNull == true { return try result(of: answer) }
            _ = event(in: answer)
        }
    }

    private func send(_ line: [UInt8], _ descriptors: PassedDescriptors = .none) -> Bool {
        // Sent with the first call, so that a name costs no round trip.
        let isFirst = !isIntroduced && !introduction.isEmpty
        isIntroduced = true
        // Descriptors belong to the line with whose first byte they come.
        if isFirst, descriptors.count > 0 { guard send(introduction) else { return false } }
        let line = isFirst && descriptors.count == 0 ? introduction + line : line
        var done = 0
        while done < line.count {
            let sent = line.withUnsafeBytes { buffer in
                let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                // The descriptors come with the first byte.
                return done == 0 && descriptors.count > 0
                    ? Bytes.send(socket.raw, rest, passing: descriptors) : Bytes.send(socket.raw, rest)
            }
            switch sent {
            case .bytes(let count): done &+= count
            case .wouldBlock, .endOfFile:
                _ = MonotonicTime.read().advanced(milliseconds: 1_000).waitForOutput(socket.raw, or: [])
            // The daemon may have answered before it closed the connection; reading shows it.
            case .failed: return done > 0
            }
        }
        return true
    }

    /// Reads more; returns `false` if the daemon closed without reading the call: a reset.
    /// - Parameter knowsLastLine: whether the caller knows which line was the last one. Otherwise a daemon that has
    ///   sent something may have read the call.
    private func receive(knowsLastLine: Bool = false) throws(ClientError) -> Bool {
        switch lines.fill({ Bytes.read(socket.raw, into: $0) }) {
        case .bytes, .wouldBlock: return true
        case .failed(ECONNRESET) where lines.isUntouched || knowsLastLine: return false
        case .endOfFile: throw .disconnected("the daemon closed the connection before it answered")
        case .failed(let code):
            throw .disconnected("the connection to the daemon failed: \(SystemError.reason(of: code))")
        }
    }

    private func parse(_ bytes: ArraySlice<UInt8>) throws(ClientError) -> JSON {
        do throws(JSONError) {
            return try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
                try JSON.parse(UnsafeRawBufferPointer(buffer))
            }
        } catch {
            throw .protocolViolation("an answer is not JSON: \(error.message)")
        }
    }

    private func result(of answer: JSON) throws(ClientError) -> JSON {
        if let result = answer["result"] { return result }
        guard let error = answer["error"], let code = error["code"]?.integer, let message = error["message"]?.string
        else { throw .protocolViolation("an answer has neither result nor error") }
        let data = error["data"]
        throw .refused(
            RemoteError(
                code: code, message: message, name: data?["name"]?.string, hint: data?["hint"]?.string))
    }
}

/// Receives the answers and the notifications of a daemon, for a caller with several calls under way.
package protocol DaemonReplies: AnyObject {
    /// The result of the call with this number.
    func answer(_ call: Int64, _ result: JSON)
    /// The error of the call with this number.
    func refuse(_ call: Int64, _ error: ClientError)
    /// A notification.
    func notify(_ method: String, _ params: JSON)
}
