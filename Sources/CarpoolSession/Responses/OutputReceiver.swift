internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

/// Receives a body for a descriptor of the client. Nothing is written before the status, the validators that need no
/// body and the retry policies have accepted the response; the body of any other response is kept with the request. So
/// is one that is short and complete in the turn of the loop in which it begins, if the client wants that.
final class OutputReceiver: ResponseReceiver, TurnObserver {
    private enum Sink {
        case undecided
        /// Kept until the end of the turn, which shows whether it is complete.
        case held
        case descriptor
        case kept
    }

    private let output: DescriptorOutput
    private var sink = Sink.undecided
    private var isPaused = false
    /// How many of the written bytes are heads.
    private var headBytes: Int64 = 0
    /// Longer heads are not held, because they would not fit the record.
    private static let heldHeadBytes = 4_096
    private var isFlushed = false
    private var isComplete = false
    private weak var request: Request?
    /// Whether bytes were passed to the descriptor: then the attempt is the last one.
    private(set) var isFinal = false

    init(_ output: DescriptorOutput, for request: Request) {
        self.output = output
        self.request = request
        output.onRoom = { [weak self, weak request] in
            guard let self, let request, isPaused else { return }
            isPaused = false
            request.session.proceed(request)
        }
        output.onFailure = { [weak request] in request?.failToStoreBody(.outputFailed($0)) }
    }

    /// Whether the body, or what there is of it, has gone to the descriptor.
    var hasBody: Bool { sink == .descriptor }

    func prepare(_ urlRequest: inout TransportRequest, for request: Request) {
        urlRequest.hasLargeBuffer = true
        if output.mayWait, urlRequest.mayMultiplex { urlRequest.isLong = true }
        output.begin(counting: request.session.files.memory, isHashed: request.parameters.hashesBody)
    }

    func request(_ request: Request, didReceive head: ResponseHead) throws(SessionError) {
        if let failure = output.failure { throw .outputFailed(failure) }
        // A head is written even if the body takes its time.
        guard request.heads != nil else { return }
        decide(request)
        if sink == .descriptor { writeHeads(request) }
    }

    /// Writes the heads before the first byte of the body.
    private func writeHeads(_ request: Request) {
        guard let heads = request.heads, headBytes == 0 else { return }
        var bytes: [UInt8] = []
        if output.settings.writesConnectHeads {
            let length = OutputReceiver.hexadecimal(heads.connectBytes.count, digits: 8)
            let connection = OutputReceiver.hexadecimal(heads.connection, digits: 16)
            bytes += Array("\(length) \(connection)\n".utf8) + heads.connectBytes
        }
        bytes += Array("\(OutputReceiver.hexadecimal(heads.bytes.count, digits: 8))\n".utf8) + heads.bytes
        headBytes = Int64(bytes.count)
        bytes.withUnsafeBytes { output.append($0) }
        heads.releaseHeads()
    }

    private static func hexadecimal(_ number: Int, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    func request(
        _ request: Request, didReceive bytes: UnsafeRawBufferPointer
    ) throws(SessionError) -> BodyDisposition {
        if sink == .undecided { decide(request) }
        if sink == .held, request.body.count + Int64(bytes.count) > inlineBytes(request) { release(request) }
        guard sink == .descriptor else { return try keep(bytes, request) }
        guard !output.isFull else {
            isPaused = true
            return .pause
        }
        isFinal = true
        request.session.didReceiveData(bytes.count, for: request)
        request.body.pass(bytes.count)
        output.append(bytes)
        return .accept
    }

    /// A longer body is not held, nor one that would be moved to a file.
    private func inlineBytes(_ request: Request) -> Int64 {
        Int64(min(output.settings.inlineBytes, request.parameters.memoryLimitBytes))
    }

    private func decide(_ request: Request) {
        guard request.session.acceptsBeforeBody(request) else { return sink = .kept }
        let isShort = request.heads.map { $0.bytes.count <= OutputReceiver.heldHeadBytes } ?? true
        sink = inlineBytes(request) > 0 && isShort ? .held : .descriptor
        if sink == .held { output.afterTurn(self) }
    }

    func turnDidEnd() {
        guard let request, sink == .held, !isComplete, request.settlement == nil else { return }
        release(request)
    }

    /// Passes on what was held.
    private func release(_ request: Request) {
        var held: [UInt8] = []
        if case .memory(let bytes) = request.body.storage {
            held = bytes
        } else if request.heads == nil || request.body.count > 0 {
            return sink = .kept
        }
        sink = .descriptor
        isFinal = true
        request.body.discard()
        writeHeads(request)
        if !held.isEmpty { held.withUnsafeBytes { output.append($0) } }
    }

    func canEnd(_ request: Request) -> Bool {
        isComplete = true
        return true
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, _ request: Request) throws(SessionError) -> BodyDisposition {
        guard !request.body.isFull else { return .pause }
        request.session.didReceiveData(bytes.count, for: request)
        try request.body.append(
            bytes, memoryLimit: request.parameters.memoryLimitBytes, spool: request.session.spool, owner: request)
        return .accept
    }

    func request(_ request: Request, didEndTaskWith error: TransportError?) {}

    var mustSettle: Bool { sink == .descriptor && !isFlushed }

    var waitsForReader: Bool { output.mayWait }

    func settle(_ request: Request, isWhole: Bool, completion: @escaping () -> Void) {
        guard sink == .descriptor else { return completion() }
        output.flush { [self] in
            isFlushed = true
            request.body.adopt(written: max(0, output.writtenBytes - headBytes), hash: output.hash)
            completion()
        }
    }

    func requestWillFinish(_ request: Request, completion: @escaping () -> Void) {
        if sink != .descriptor, output.settings.inlineBytes > 0 {
            // The record has the body, so the client does not wait for the end of the descriptor.
            output.discard()
            return completion()
        }
        output.close(completion)
    }

    func requestDidCancel(keepingPartialFile: Bool) { output.close {} }

    func reset() {
        sink = .undecided
        isPaused = false
        isComplete = false
    }
}

extension Request {
    /// Whether the body, or what there is of it, has gone to a descriptor of the client.
    public var hasWrittenToDescriptor: Bool { (receiver as? OutputReceiver)?.hasBody ?? false }
}

extension SessionError {
    /// The descriptor of the client cannot be written to.
    static func outputFailed(_ error: SystemError) -> SessionError {
        if let shortage = shortage(error) { return shortage }
        if error.code == EPIPE || error.code == ECONNRESET {
            return SessionError("response_output_closed", "the reader of the response's body has closed its end")
        }
        let isFull = error.code == ENOSPC || error.code == EDQUOT
        return SessionError(
            isFull ? "disk_full" : "cannot_write_to_file",
            "cannot write the body to the descriptor that was passed: \(error.reason)",
            details: [Detail("errno", .integer(Int(error.code)))])
    }
}
