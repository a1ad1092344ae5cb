import CarpoolHTTP
import CarpoolJSON
import CarpoolSession
import Testing

/// Values of large bodies, and property lists, are made off the loop.
@Suite struct LargeBodyTests {
    static let large = [UInt8](repeating: UInt8(ascii: "7"), count: 300_000)

    /// A request whose body has come, with jobs that the test runs.
    private static func answered(
        _ body: [UInt8], by serializers: [any ResponseSerializer]
    ) throws -> (stage: Stage, work: ManualWork, request: Request) {
        let work = ManualWork()
        let stage = try Stage(work: work)
        let request = stage.send {
            $0.serializers = serializers
            $0.memoryLimitBytes = 1_000_000
        }
        stage.transport.receive(200)
        stage.transport.receive(body)
        stage.transport.complete()
        return (stage, work, request)
    }

    @Test("Above 256 KiB each serializer is one job, and the request waits for it")
    func jobs() throws {
        let (stage, work, request) = try Self.answered(
            Self.large, by: [DataResponseSerializer(), StringResponseSerializer()])
        #expect(!request.isFinished)
        #expect(work.jobs.count == 1)
        work.runNext()
        #expect(!request.isFinished)
        #expect(work.jobs.count == 1)
        work.runNext()
        #expect(request.isFinished)
        #expect(try request.results[0].result.get().bytes == Self.large)
        #expect(try request.results[1].result.get().text?.utf8.count == Self.large.count)
        #expect(
            stage.monitor.events.suffix(3) == [
                "requestDidFinish", "didParseResponse(data, success)", "didParseResponse(string, success)",
            ])
    }

    @Test("A request that is cancelled while its body is serialized ends at once; the job's result is dropped")
    func cancelled() throws {
        let (_, work, request) = try Self.answered(Self.large, by: [DataResponseSerializer()])
        request.cancel()
        #expect(request.isFinished)
        #expect(request.state == .cancelled)
        #expect(request.error?.name == "explicitly_cancelled")
        work.runNext()
        #expect(request.results.count == 1)
        #expect(request.results[0].error?.name == "explicitly_cancelled")
    }

    @Test("A job that is refused is tried again")
    func refused() throws {
        let work = ManualWork()
        let stage = try Stage(work: work)
        work.refuses = true
        let request = stage.send {
            $0.serializers = [DataResponseSerializer()]
            $0.memoryLimitBytes = 1_000_000
        }
        stage.transport.receive(200)
        stage.transport.receive(Self.large)
        stage.transport.complete()
        #expect(!request.isFinished)
        work.refuses = false
        stage.scheduler.advance(milliseconds: 100)
        work.runNext()
        #expect(request.isFinished)
        #expect(request.error == nil)
    }

    @Test("Small bodies are serialized where they are, property lists never")
    func small() throws {
        let small = [UInt8](repeating: UInt8(ascii: "7"), count: 262_144)
        let (_, work, request) = try Self.answered(small, by: [StringResponseSerializer()])
        #expect(work.jobs.isEmpty)
        #expect(request.isFinished)
        let list = try PropertyList.encode(.object([.init("a", .integer(1))]), as: .binary)
        let (_, listWork, listRequest) = try Self.answered(list, by: [PropertyListResponseSerializer()])
        #expect(!listRequest.isFinished)
        listWork.runNext()
        #expect(try listRequest.results[0].result.get().structured == .object([.init("a", .integer(1))]))
    }

    @Test("With a maximum the job writes the value as JSON, and omits one that is too long")
    func written() throws {
        let list = try PropertyList.encode(.array([.data([1, 2, 3]), .string("a")]), as: .xml)
        func value(_ limit: Int) throws -> SerializedValue {
            let input = SerializerInput(maximumTextBytes: limit)
            let (_, work, request) = try Self.answered(list, by: [PropertyListResponseSerializer(input: input)])
            work.runNext()
            return try request.results[0].result.get()
        }
        let text = #"[{"$data":"AQID"},"a"]"#
        guard case .jsonText(let written) = try value(text.utf8.count) else {
            Issue.record("no text")
            return
        }
        #expect(written.bytes == Array(text.utf8))
        guard case .omitted = try value(text.utf8.count - 1) else {
            Issue.record("not omitted")
            return
        }
    }

    @Test("RS-09: the job removes the Google XSSI prefix")
    func preprocessed() throws {
        let input = SerializerInput(preprocessor: XSSIPreprocessor())
        let (_, work, request) = try Self.answered(
            Array(")]}',\n".utf8) + Self.large, by: [DataResponseSerializer(input: input)])
        work.runNext()
        #expect(try request.results[0].result.get().bytes == Self.large)
    }
}
