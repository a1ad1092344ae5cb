internal import CarpoolJSON

/// The answers of one batch, sent as one array when all are complete (JSON-RPC 2.0 section 6).
final class Batch {
    /// The answers so far, as the array that they will be.
    private var text: [UInt8] = []
    private var expected = 0
    private var isClosed = false
    private var followers: [() -> Void] = []
    private let grow: (Int) -> Void
    private let send: ([UInt8]) -> Void

    /// - Parameter grow: called with the bytes by which the answers that wait have grown, or shrunk.
    init(grow: @escaping (Int) -> Void = { _ in }, send: @escaping ([UInt8]) -> Void) {
        self.grow = grow
        self.send = send
    }

    /// Announces one more answer.
    func expect() { expected += 1 }

    /// Adds an answer that was not announced.
    func add(_ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        text.append(text.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
        writer.withBytes { text.append(contentsOf: $0) }
        grow(writer.count + 1)
    }

    /// Adds an answer that was announced.
    func complete(_ write: (inout JSONWriter) -> Void) {
        expected -= 1
        add(write)
        sendIfComplete()
    }

    /// Calls the body when the answers are queued.
    func afterSending(_ body: @escaping () -> Void) {
        if isClosed, expected == 0 { body() } else { followers.append(body) }
    }

    /// Closes the batch: it has no more messages.
    func close() {
        isClosed = true
        sendIfComplete()
    }

    private func sendIfComplete() {
        guard isClosed, expected == 0 else { return }
        defer { notifyFollowers() }
        // A batch of notifications alone is not answered at all.
        guard !text.isEmpty else { return }
        grow(-text.count)
        text.append(UInt8(ascii: "]"))
        send(text)
        text = []
    }

    private func notifyFollowers() {
        let followers = followers
        self.followers = []
        for follower in followers { follower() }
    }
}
