internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolExchange
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Copies the body from a pipe of the command to standard output or a file while it arrives, behind the head with `-i`.
/// The kernel moves the bytes where it can.
final class OutputCopy {
    private let request: RequestArguments
    private let daemon: DaemonAccess
    private let pipe: FileDescriptor
    private var writeEnd: FileDescriptor?
    private let target: CopyTarget
    /// The last head that was received: an object with the member `response`.
    private var head: JSON?
    private(set) var isHeadPrinted = false
    private var record: JSON?
    /// Whether all bytes of the pipe were written.
    private var hasEnded = false
    private var mover = PipeMover()
    /// How many bytes of the body were moved.
    private var movedBytes = 0
    /// Prints on a terminal; `nil` for another output, and until the head is there.
    private var terminal: TerminalBody?
    /// Shows the progress: of the body that is sent, and of the one that is received unless it goes to a terminal.
    private var meter: ProgressMeter
    private let query: ProgressQuery

    /// On a terminal and with `--stream` a head is printed without the body after so many milliseconds. Otherwise it
    /// waits for the first bytes of the body, because a reader such as head(1) may close the pipe after the first line.
    private static let headMilliseconds = 20
    /// How long the end of a body may come after the loss of its reader.
    private static let endMilliseconds = 20
    /// After so many bytes a body is a large one, whose pipe gets more room.
    private static let largeBytes = 65_536

    init(_ request: RequestArguments, _ daemon: DaemonAccess) throws(Failure) {
        self.request = request
        self.daemon = daemon
        target = CopyTarget(request.output)
        let isOnTerminal = !target.isFile && Terminal.isTerminal
        meter = request.body == nil && isOnTerminal ? ProgressMeter(isSilent: true) : request.meter
        query = ProgressQuery(socket: request.socket)
        do throws(SystemError) {
            let ends = try FileDescriptor.pipe()
            pipe = FileDescriptor(owning: ends.read)
            writeEnd = FileDescriptor(owning: ends.write)
        } catch {
            throw Failure(.transferFailed, "cannot make a pipe: \(error.reason)")
        }
    }

    /// Calls `request.perform` with these parameters, whose descriptor 0 is the pipe; returns the record once all bytes
    /// of the pipe were written.
    func run(_ params: (inout JSONWriter) -> Void) throws(Failure) -> JSON {
        try daemon.begin("request.perform", passing: PassedDescriptors(writeEnd?.raw ?? -1), params)
        writeEnd = nil
        defer { meter.clear() }
        while true {
            if let record {
                // A body that came with the record is not in the pipe.
                guard record["body"]?["fd"] != nil else { return record }
                while !hasEnded {
                    waitForReader()
                    hasEnded = try !movePiece()
                }
                if var body = terminal { try Terminal.print(body.finish()) }
                return record
            }
            try waitForMore()
        }
    }

    /// The types of the events that it takes.
    var events: [String] { ["task.did_receive_response"] + (meter.isShown ? ProgressMeter.eventTypes : []) }

    /// Writes the kind of the request, if its progress is shown.
    func writeKind(to json: inout JSONWriter) {
        if meter.isShown { MeteredCall.writeKind(to: &json, of: request) }
    }

    private func waitForMore() throws(Failure) {
        let mayPrintHead =
            printsHeadAlone && !isHeadPrinted && head != nil && request.retry.count == 0 && !isRefused
        let now = MonotonicTime.read()
        let patience = meter.isShown ? ProgressMeter.milliseconds : .max
        let deadline = now.advanced(milliseconds: mayPrintHead ? OutputCopy.headMilliseconds : patience)
        let inputs = hasEnded ? [daemon.descriptor] : [daemon.descriptor, pipe.raw]
        // Once everything is written, it does not matter that the reader has gone.
        let output = hasEnded ? nil : target.descriptor
        let ready = deadline.waitForInput(inputs, orLossOf: output.map { [$0] } ?? [])
        if let ready, ready == output { return try endWithoutReader() }
        defer { showProgress() }
        guard let ready else {
            if mayPrintHead { try printHead() }
            return query.update(&meter)
        }
        // The head of a body comes before its first byte.
        guard ready == pipe.raw, head != nil || !needsHead else { return try receive() }
        waitForReader()
        hasEnded = try !movePiece()
    }

    /// The reader has gone. It may have had the last byte, and the end of the pipe is on its way.
    private func endWithoutReader() throws(Failure) {
        let deadline = MonotonicTime.read().advanced(milliseconds: OutputCopy.endMilliseconds)
        guard deadline.waitForInput(pipe.raw), Bytes.available(inPipe: pipe.raw) == 0 else {
            throw Failure.brokenPipe
        }
        hasEnded = true
    }

    /// What is printed on the terminal would be mixed with it.
    private func showProgress() { if head == nil || !isOnTerminal { meter.show() } }

    /// Waits until standard output takes bytes, and shows meanwhile that it does not.
    private func waitForReader() {
        guard meter.isShown, !usesTerminal, let output = target.descriptor else { return }
        while MonotonicTime.read().advanced(milliseconds: ProgressMeter.milliseconds)
            .waitForOutput(output, or: []) == nil
        {
            query.update(&meter)
            meter.show(isOutputFull: true)
        }
    }

    /// Whether the head has to be known before the body: to print it, or because its type says how to print.
    private var needsHead: Bool { request.printsHead || usesTerminal }

    private var printsHeadAlone: Bool { isOnTerminal || request.isRawStream }

    private var isOnTerminal: Bool { !target.isFile && Terminal.isTerminal }

    private var usesTerminal: Bool { isOnTerminal && !request.isRawStream }

    private func receive() throws(Failure) {
        for message in try daemon.receive() {
            switch message {
            case .answer(let answer): record = answer
            case .event(let event):
                guard event["type"]?.isString("task.did_receive_response") == true else {
                    meter.take(event)
                    continue
                }
                if isOnTerminal { meter.clear() }
                head = event["data"]
            }
        }
    }

    /// Whether the last head is one whose response is not printed.
    private var isRefused: Bool { request.failsOnStatus && head?["response"]?["status"]?.int ?? 0 >= 400 }

    private func printHead() throws(Failure) {
        guard request.printsHead, !isHeadPrinted, let head else { return }
        isHeadPrinted = true
        guard target.isFile else { return try ResponseOutput(head).write(to: nil, withHead: true) }
        try ResponseOutput(head).write(to: try target.open(), target.name, withHead: true)
    }

    /// Writes what came with the record, and replaces the file.
    func store(_ record: JSON, withHead: Bool) throws(Failure) {
        meter.clear()
        try ResponseOutput(record, request).write(to: try target.open(), target.name, withHead: withHead)
        try target.commit()
    }

    /// Writes what the pipe has; returns false at its end.
    private func movePiece() throws(Failure) -> Bool {
        if usesTerminal, let head {
            var body =
                terminal
                ?? TerminalBody(
                    contentType: ResponseOutput.contentType(of: head), laysOut: request.layout != .never)
            defer { terminal = body }
            return try printPiece(&body)
        }
        if request.printsHead, !isHeadPrinted {
            // Only bytes of an accepted response are in the pipe.
            guard hasBytes() else { return false }
            guard target.isFile else { return try printHeadAndPiece() }
            try printHead()
        }
        // A file is opened with the first byte, and an empty one at the end.
        guard !target.isFile || hasBytes() else { return false }
        let output = try target.open()
        var count = 0
        try Terminal.write(target.name) { () throws(SystemError) in
            switch try mover.next(from: pipe.raw, to: output) {
            case .end: break
            case .moved(let moved): count = moved
            case .bytes(let bytes):
                count = bytes.count
                try BlockingOutput(borrowing: output, isNamed: target.isFile).write(bytes)
            }
        }
        guard count > 0 else { return false }
        let isLarge = movedBytes >= OutputCopy.largeBytes
        movedBytes += count
        if !isLarge, movedBytes >= OutputCopy.largeBytes { PipeRoom.enlarge(pipe.raw, to: PipeRoom.ofOurs) }
        return true
    }

    /// Prints the head and the first bytes of the body in one piece; returns whether there were any.
    private func printHeadAndPiece() throws(Failure) -> Bool {
        guard let head, case .bytes(let bytes)? = try? mover.next(from: pipe.raw, to: nil) else { return false }
        isHeadPrinted = true
        movedBytes += bytes.count
        try Terminal.print(ResponseOutput(head).head(isTerminal: Terminal.isTerminal) + bytes)
        return true
    }

    /// Prints what the pipe has on a terminal; returns false at its end.
    private func printPiece(_ body: inout TerminalBody) throws(Failure) -> Bool {
        guard case .bytes(let bytes)? = try? mover.next(from: pipe.raw, to: nil) else { return false }
        try printHead()
        try Terminal.print(try body.add(bytes))
        return true
    }

    /// Waits until the pipe is readable; returns whether it has bytes, or has ended without any.
    private func hasBytes() -> Bool {
        _ = MonotonicTime.read().advanced(milliseconds: .max).waitForInput(pipe.raw)
        return Bytes.available(inPipe: pipe.raw) > 0
    }
}
