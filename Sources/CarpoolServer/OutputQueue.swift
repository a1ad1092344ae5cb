internal import CarpoolSystem

/// What a client has not taken yet: bytes in order, sent as the socket takes them.
///
/// They lie in pieces, so that a long queue is never copied as it grows, and each piece is given back once it is sent.
struct OutputQueue {
    private var pieces: [[UInt8]] = []
    private var last: [UInt8] = []
    /// How much of the first piece is sent.
    private var sent = 0
    /// How many bytes wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// A piece is full at this size; the next message begins another.
    private static let pieceBytes = 65_536

    /// Lets the caller append a message; the body must only append.
    mutating func append(_ body: (inout [UInt8]) -> Void) {
        let before = last.count
        body(&last)
        count += last.count - before
        guard last.count >= OutputQueue.pieceBytes else { return }
        pieces.append(last)
        last = []
    }

    /// Sends until nothing is left or the socket is full.
    mutating func flush(to fd: Int32) -> IOResult {
        while count > 0 {
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
        let result = piece.withUnsafeBytes { Bytes.send(fd, UnsafeRawBufferPointer(rebasing: $0[sent...])) }
        if case .bytes(let moved) = result {
            sent += moved
            count -= moved
        }
        return result
    }
}
