import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct ResponseBodyTests {
    private static func append(
        _ text: String, to body: inout ResponseBody, limit: Int, _ stage: Stage, _ owner: Request
    ) throws(SessionError) {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: text.utf8)
        try body.append(UnsafeRawBufferPointer(bytes), memoryLimit: limit, spool: stage.spool, owner: owner)
    }

    @Test(
        "In memory up to the limit, in a file from the first byte over it",
        arguments: [(6, false), (5, true), (0, true)])
    func theLimit(_ limit: Int, _ isFile: Bool) throws {
        let stage = try Stage()
        let owner = stage.request(RequestParameters(url: "http://a.test/"))
        var body = ResponseBody()
        for piece in ["ab", "cd", "ef"] { try Self.append(piece, to: &body, limit: limit, stage, owner) }
        #expect(body.count == 6)
        switch body.storage {
        case .memory(let bytes):
            #expect(!isFile)
            #expect(bytes == Array("abcdef".utf8))
        case .file:
            #expect(isFile)
            #expect(stage.spool.files.map(\.bytes) == [Array("abcdef".utf8)])
        }
    }

    @Test("A body that cannot be kept is dropped as a whole", arguments: [ScriptedSpool.Step.make, .write])
    func failure(_ step: ScriptedSpool.Step) throws {
        let stage = try Stage()
        let owner = stage.request(RequestParameters(url: "http://a.test/"))
        var body = ResponseBody()
        try Self.append("kept", to: &body, limit: 4, stage, owner)
        stage.spool.failure = step
        #expect(throws: SessionError.self) { try Self.append("more", to: &body, limit: 4, stage, owner) }
        guard case .memory(let bytes) = body.storage else {
            Issue.record("still in a file")
            return
        }
        #expect(bytes.isEmpty)
        #expect(body.count == 8)
        #expect(stage.spool.files.allSatisfy { $0.isDiscarded })
    }

    @Test("Spilling moves the bytes in memory to a complete file, once")
    func spill() throws {
        let stage = try Stage()
        let owner = stage.request(RequestParameters(url: "http://a.test/"))
        var body = ResponseBody()
        try Self.append("abc", to: &body, limit: 10, stage, owner)
        owner.body = body
        var failures: [SessionError?] = []
        for _ in 0..<2 { owner.spillBody { failures.append($0) } }
        #expect(failures.map { $0?.name } == [nil, nil])
        #expect(stage.spool.files.map(\.path) == ["/spool/r_1"])
        #expect(owner.body.count == 3)
        #expect(owner.body.path == "/spool/r_1")
    }

    @Test("Two callers of the same spilling wait for one file; if the bytes are dropped meanwhile it is too")
    func slowSpill() throws {
        let stage = try Stage()
        let owner = stage.request(RequestParameters(url: "http://a.test/"))
        var body = ResponseBody()
        try Self.append("abc", to: &body, limit: 10, stage, owner)
        owner.body = body
        stage.spool.isSlow = true
        var answers = 0
        for _ in 0..<2 { owner.spillBody { _ in answers += 1 } }
        #expect(answers == 0)
        #expect(owner.text == "abc")
        owner.discardBody()
        stage.spool.completions[0]()
        #expect(answers == 2)
        #expect(stage.spool.files.map(\.isDiscarded) == [true])
        #expect(owner.body.path == nil)
    }

    @Test("Spilling that fails leaves the bytes in memory", arguments: [ScriptedSpool.Step.make, .write, .complete])
    func spillFailure(_ step: ScriptedSpool.Step) throws {
        let stage = try Stage()
        let owner = stage.request(RequestParameters(url: "http://a.test/"))
        var body = ResponseBody()
        try Self.append("abc", to: &body, limit: 10, stage, owner)
        stage.spool.failure = step
        owner.body = body
        var failure: SessionError?
        owner.spillBody { failure = $0 }
        #expect(failure != nil)
        guard case .memory(let bytes) = owner.body.storage else {
            Issue.record("not in memory")
            return
        }
        #expect(bytes == Array("abc".utf8))
        #expect(stage.spool.files.allSatisfy { $0.isDiscarded })
    }

    @Test("All bytes, from memory and from a file, up to a limit", arguments: [10, 2])
    func bytes(_ memoryLimit: Int) throws {
        let stage = try Stage()
        let owner = stage.request(RequestParameters(url: "http://a.test/"))
        var body = ResponseBody()
        #expect(try body.bytes(atMost: 0) == [])
        try Self.append("abc", to: &body, limit: memoryLimit, stage, owner)
        #expect(try body.bytes(atMost: 3) == Array("abc".utf8))
        let large = try #require(throws: SessionError.self) { try body.bytes(atMost: 2) }
        #expect(large.name == "response_serialization_failed.input_too_large")
        #expect(large.number("size_bytes") == 3)
        #expect(large.number("limit_bytes") == 2)
        body.discard()
        let gone = try #require(throws: SessionError.self) { try body.bytes(atMost: 3) }
        #expect(gone.name == "response_serialization_failed.input_file_nil")
    }
}
