/// A position in the stream of events: the run of the daemon, and the number of the last event before it. Opaque to
/// clients.
struct EventCursor: Equatable {
    let epoch: String
    let sequence: Int

    init(epoch: String, sequence: Int) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// Reads a cursor of this or another daemon; `nil` if the text is not a cursor.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, (1...16).contains(parts[0].utf8.count), parts[0].utf8.allSatisfy(EventCursor.isBase36),
            let first = parts[1].utf8.first, first != UInt8(ascii: "+"), let sequence = Int(parts[1]), sequence >= 0
        else { return nil }
        epoch = String(parts[0])
        self.sequence = sequence
    }

    var text: String { "\(epoch).\(sequence)" }

    private static func isBase36(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
}
