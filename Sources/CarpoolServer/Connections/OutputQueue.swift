internal import CarpoolSystem

/// Output that a client has not read yet, sent as the socket accepts it.
///
/// The bytes are kept in pieces, so that a long queue is never copied as it grows; each piece is released after it is
/// sent.
struct OutputQueue {
    private var pieces: [[UInt8]] = []
    private var last: [UInt8] = []
    /// How much of the first piece is sent.
    private var sent = 0
    /// How many bytes wait.
    private(set) var count = 0
    /// How many bytes were ever sent.
    private var total = 0
    /// Descriptors, each before the byte that it goes with, counted from the beginning of all; few, because each is an
    /// open file.
    private var passed: [(before: Int, descriptor: WorkerFile)] = []

    var isEmpty: Bool { count == 0 }

    /// A piece is full at this size; the next message begins another.
    private static let pieceBytes = 65_536

    /// How many descriptors wait.
    var descriptorCount: Int { passed.count }

    /// Attaches a descriptor to the next message.
    mutating func attach(_ descriptor: WorkerFile) { passed.append((total + count, descriptor)) }

    /// Lets the caller append a message; the body must only append.
    mutating func append(_ body: (inout [UInt8]) -> Void) {
        let before = last.count
        body(&last)
        count += last.count - before
        guard last.count >= OutputQueue.pieceBytes else { return }
        pieces.append(last)
        last = []
    }

    /// Releases memory that is kept for the next messages.
    mutating func shrink() { if last.isEmpty { last = [] } }

    /// Maximum sent per turn to a client that reads as fast as it is sent to.
    private static let bytesAtOnce = 1_048_576

    /// Sends until nothing is left, the socket is full, or enough is sent for one turn.
    mutating func flush(to fd: Int32) -> IOResult {
        let before = total
        while count > 0 {
            if total &- before >= OutputQueue.bytesAtOnce { return .wouldBlock }
            if pieces.isEmpty {
                // Nearly always the only piece, which keeps its memory for the next answers.
                let result = send(last, to: fd)
                guard case .bytes = result else { return result }
                if sent == last.count {
                    last.removeAll(keepingCapacity: true)
                    sent = 0
                }
                continue
            }
            let result = send(pieces[0], to: fd)
            guard case .bytes = result else { return result }
            if sent == pieces[0].count {
                pieces.removeFirst()
                sent = 0
            }
        }
        return .bytes(0)
    }

    private mutating func send(_ piece: [UInt8], to fd: Int32) -> IOResult {
        // With the descriptor that goes with the next byte, and up to the byte that the next descriptor goes with.
        let hasDescriptor = passed.first?.before == total
        let next = passed.dropFirst(hasDescriptor ? 1 : 0).first.map { $0.before - total }
        let end = next.map { min(piece.count, sent + $0) } ?? piece.count
        let result = piece.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[sent..<end])
            guard hasDescriptor, let descriptor = passed.first?.descriptor.raw else {
                return Bytes.send(fd, part)
            }
            return Bytes.send(fd, part, passing: descriptor)
        }
        if case .bytes(let moved) = result {
            if hasDescriptor { passed.removeFirst() }
            sent += moved
            count -= moved
            total &+= moved
        }
        return result
    }
}
