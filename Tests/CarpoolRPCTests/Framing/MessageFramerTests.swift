import CarpoolRPC
import Testing

@Suite struct MessageFramerTests {
    private func events(_ bytes: [UInt8], limits: FramingLimits = FramingLimits(), chunk: () -> Int) -> [FramerEvent] {
        var framer = MessageFramer(limits: limits)
        var found: [FramerEvent] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = max(1, chunk())
            Array(rest.prefix(count)).withUnsafeBytes { framer.append($0) }
            rest = rest.dropFirst(count)
            while let event = framer.next() { found.append(event) }
        }
        if let event = framer.finish() { found.append(event) }
        return found
    }

    private func message(_ text: String) -> FramerEvent { .message(MessageText(Array(text.utf8))) }

    private func message(ofBytes count: Int) -> String {
        #"{"x":""# + String(repeating: "y", count: count - 8) + #""}"#
    }

    @Test func cutsExactSlices() {
        let text = " {\"a\":\"}\\\"\"} [1]\n\n{}\n\"x\" \nnull"
        let expected = [message(#"{"a":"}\""}"#), message("[1]"), message("{}"), message("\"x\" "), message("null")]
        #expect(events(Array(text.utf8)) { .max } == expected)
        #expect(events(Array(text.utf8)) { 1 } == expected)
    }

    @Test(arguments: [Framing.lines, .contentLength, .jsonSequence])
    func readsWhatItFrames(_ framing: Framing) {
        var generator = SeededGenerator(seed: 11)
        let texts = (0..<200).map {
            #"{"n":\#($0),"t":"\#(String(repeating: "\\\\\\\"{[", count: $0 % 17))","a":[[],{}]}"#
        }
        var stream: [UInt8] = []
        for text in texts { framing.frame(Array(text.utf8), into: &stream) }
        for _ in 0..<20 {
            #expect(events(stream) { Int.random(in: 1...97, using: &generator) } == texts.map(message))
        }
    }

    @Test(arguments: [Framing.lines, .contentLength, .jsonSequence])
    func skipsWhatIsTooLarge(_ framing: Framing) {
        let limits = FramingLimits(messageBytes: 1_000)
        var stream: [UInt8] = []
        for count in [1_000, 1_001, 50_000, 12] { framing.frame(Array(message(ofBytes: count).utf8), into: &stream) }
        let tooLarge = FramerEvent.failure(.messageTooLarge(limitBytes: 1_000))
        let expected = [message(message(ofBytes: 1_000)), tooLarge, tooLarge, message(message(ofBytes: 12))]
        for chunk in [1, 999, 1_000, 1_001, 4_096, .max] {
            #expect(events(stream, limits: limits) { chunk } == expected)
        }
    }

    @Test(arguments: [("{\"a\":1}\n", 0), ("[1]", 0), ("{}\n\n", 1), ("{}\n{", 1), ("{}\r\n", 2)])
    func takesTheEndOfALineWithItsMessage(_ text: String, left: Int) {
        var framer = MessageFramer()
        Array(text.utf8).withUnsafeBytes { framer.append($0) }
        #expect(framer.next() != nil)
        #expect(framer.bufferedBytes == left)
    }

    @Test func skipsABareLineThatIsTooLarge() {
        let text = "\"" + String(repeating: "x", count: 3_000) + "\n{}"
        let expected = [FramerEvent.failure(.messageTooLarge(limitBytes: 1_000)), message("{}")]
        for chunk in [1, 1_000, .max] {
            #expect(events(Array(text.utf8), limits: FramingLimits(messageBytes: 1_000)) { chunk } == expected)
        }
    }

    @Test func skipsALargeMessageThatIsBroken() {
        let text = "[\"" + String(repeating: "x", count: 3_000) + "\"}\n{}"
        let expected = [FramerEvent.failure(.messageTooLarge(limitBytes: 1_000)), message("{}")]
        #expect(events(Array(text.utf8), limits: FramingLimits(messageBytes: 1_000)) { 10 } == expected)
    }

    @Test func tellsTheFraming() {
        func framing(_ text: String) -> Framing {
            var framer = MessageFramer()
            Array(text.utf8).withUnsafeBytes { framer.append($0) }
            while framer.next() != nil {}
            return framer.framing
        }
        #expect(framing("") == .undecided && framing("17\n") == .undecided && framing("hello\n") == .undecided)
        #expect(framing("cat\n") == .undecided && framing("Content-Length: 0\r\n\r\n") == .contentLength)
        #expect(framing("{") == .lines && framing(" [") == .lines && framing("\u{1E}") == .jsonSequence)
        #expect(framing("\u{FEFF}[") == .lines)
    }

    @Test func randomBytesGiveTheSameEventsInAnyPieces() {
        var generator = SeededGenerator(seed: 23)
        let alphabet = Array("{}[]\"\\,:0n C-\n\n\r\u{1E}\u{FEFF}".utf8) + Array("Content-Length: 3\r\n\r\n".utf8)
        let limits = FramingLimits(messageBytes: 24)
        for _ in 0..<3_000 {
            let bytes = (0..<Int.random(in: 1...120, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            let whole = events(bytes, limits: limits) { .max }
            #expect(events(bytes, limits: limits) { 1 } == whole)
            #expect(events(bytes, limits: limits) { Int.random(in: 1...9, using: &generator) } == whole)
            for case .message(let message) in whole { #expect(message.bytes.count <= limits.messageBytes) }
        }
    }

    /// A message that arrives in small pieces must not be read from its start for each: then twice the bytes would take
    /// four times as long, and this would not end in a minute.
    @Test(.timeLimit(.minutes(1))) func takesTimeInProportionToTheBytes() {
        let text = message(ofBytes: 1_048_576)
        #expect(events(Array(text.utf8)) { 64 } == [message(text)])
    }

    @Test func keepsNoMoreThanAMessage() {
        var framer = MessageFramer(limits: FramingLimits(messageBytes: 4_096))
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1_024)
        Array("[\"".utf8).withUnsafeBytes { framer.append($0) }
        var failures = 0
        for _ in 0..<10_000 {
            piece.withUnsafeBytes { framer.append($0) }
            while framer.next() != nil { failures += 1 }
            #expect(framer.bufferedBytes <= 4_096 + 1_024)
        }
        #expect(failures == 1)
    }
}
