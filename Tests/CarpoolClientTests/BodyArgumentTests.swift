import CarpoolJSON
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolClient

struct BodyArgumentTests {
    private func json(_ body: BodyArgument) -> String {
        var writer = JSONWriter()
        body.write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        var template = Array("/tmp/carpool-test-XXXXXX".utf8CString)
        let file = FileDescriptor(owning: mkstemp(&template))
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { unlink(path) }
        try BlockingOutput(borrowing: file.raw).write(bytes)
        try body(path)
    }

    private func load(_ bytes: [UInt8]) throws -> String {
        var result = ""
        try withFile(bytes) { result = try json(BodyArgument.load(.file($0))) }
        return result
    }

    @Test func aTextTravelsAsItIs() throws {
        #expect(try json(BodyArgument.load(.text("a\"é"))) == #"{"text":"a\"é"}"#)
        #expect(try json(BodyArgument.load(.text(""))) == #"{"text":""}"#)
    }

    @Test func aSmallFileTravelsInTheMessage() throws {
        #expect(try load(Array("hello".utf8)) == #"{"text":"hello"}"#)
        #expect(try load([0xFF, 0]) == #"{"base64":"/wA="}"#)
        #expect(try load([]) == #"{"text":""}"#)
    }

    @Test func aLargeFileIsNamed() throws {
        let most = [UInt8](repeating: UInt8(ascii: "x"), count: BodyArgument.inlineBytes)
        try withFile(most) { path in
            guard case .bytes(let bytes) = try BodyArgument.load(.file(path)) else {
                Issue.record("the file is small enough")
                return
            }
            #expect(bytes == most)
        }
        #expect(try load(most + [0]).hasPrefix("{\"file\":\"/tmp/carpool-test-"))
    }

    @Test func aFileThatIsNotThereIsTold() {
        let error = #expect(throws: SystemError.self) { _ = try BodyArgument.load(.file("/nonexistent")) }
        #expect(error?.code == ENOENT)
    }
}
