internal import CarpoolCaller
internal import CarpoolJSON
internal import Glibc

/// Prints events on standard output, each on a line, as JSON or formatted.
struct EventOutput {
    private let follower: Follower
    private let isPretty: Bool
    private let isColoured: Bool

    /// Colours are used on terminals, unless NO_COLOR is set (no-color.org).
    init(_ follower: Follower, isPretty: Bool) {
        self.follower = follower
        self.isPretty = isPretty
        isColoured = isPretty && Terminal.isTerminal && getenv("NO_COLOR") == nil
    }

    /// Prints an event.
    func write(_ event: JSON) throws(Failure) {
        guard !isPretty else { return try line(EventLine(event).text(isColoured: isColoured)) }
        var writer = JSONWriter()
        writer.value(event)
        writer.append(verbatim: [UInt8(ascii: "\n")])
        try follower.print(Terminal.json(writer.bytes))
    }

    /// Prints a line of text.
    func line(_ text: String) throws(Failure) { try follower.print(Array("\(text)\n".utf8)) }

    /// Prints data of a subscription's answer in the form of an event.
    func write(_ type: String, of answer: JSON, data: (inout JSONWriter) -> Void) throws(Failure) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("sub", answer["sub"])
        writer.member("cursor", answer["cursor"])
        writer.member("type", type)
        writer.key("data")
        writer.beginObject()
        data(&writer)
        writer.endObject()
        writer.endObject()
        guard let event = try? JSON.parse(writer.bytes) else { return }
        try write(event)
    }
}
