import CarpoolJSON
import CarpoolRPC
import Testing

@Suite struct TranscriptTests {
    private static let anyFraming = ["specification", "messages", "ids"].flatMap(Transcript.inFolder)

    @Test(arguments: anyFraming, [Framing.lines, .contentLength, .jsonSequence])
    func isAnsweredAsPrinted(_ transcript: Transcript, _ framing: Framing) throws {
        try run(transcript, framing, chunk: .max)
        try run(transcript, framing, chunk: 1)
    }

    @Test(arguments: Transcript.inFolder("framing"), [Int.max, 1, 2, 3, 7])
    func isFramedAsDocumented(_ transcript: Transcript, _ chunk: Int) throws {
        try run(transcript, nil, chunk: chunk)
    }

    @Test func areAllThere() { #expect(TranscriptTests.anyFraming.count >= 16) }

    /// Plays a conversation; each answer must be there when it is expected, and nothing else.
    private func run(_ transcript: Transcript, _ framing: Framing?, chunk: Int) throws {
        var service = SpecificationService()
        var reader = MessageFramer()
        func send(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                service.receive(Array(rest.prefix(chunk)))
                rest = rest.dropFirst(chunk)
            }
        }
        func answer() throws -> [UInt8] {
            service.output.withUnsafeBytes { reader.append($0) }
            service.output = []
            guard case .message(let message)? = reader.next() else { throw Transcript.Failure.badLine("no answer") }
            return message.bytes
        }
        var hasEnded = false
        for step in try transcript.steps() {
            switch step {
            case .message(let message):
                var framed: [UInt8] = []
                (framing ?? .lines).frame(message, into: &framed)
                send(framed)
            case .bytes(let bytes): send(bytes)
            case .end:
                service.end()
                hasEnded = true
            case .expect(let expected):
                let answer = try answer()
                let text = String(decoding: answer, as: UTF8.self)
                #expect(Transcript.matches(try JSON.parse(answer), expected), "\(text)")
            case .line(let line): #expect(try answer() == line)
            }
        }
        if !hasEnded {
            var framed: [UInt8] = []
            let isOpen = service.framer.framing == .undecided
            (isOpen ? framing ?? .lines : service.framer.framing)
                .frame(Array(#"{"jsonrpc":"2.0","id":"last","method":"get_data"}"#.utf8), into: &framed)
            send(framed)
            #expect(try answer() == Array(#"{"jsonrpc":"2.0","id":"last","result":["hello",5]}"#.utf8))
        }
        #expect(service.output.isEmpty && reader.next() == nil)
    }
}
