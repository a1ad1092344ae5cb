import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolServer
@testable import CarpoolSession
import Foundation
import Testing

/// Everything that hides or removes secrets takes their names from one table, ``SecretNames``: each user of the table
/// is asked about each name in Tests/Support/vectors/secrets.jsonl.
struct SecretNamesTests {
    private struct Row {
        let name: String
        let isSecret: Bool
        /// A header field of the name, if a field may have it.
        var field: HTTPField? { try? HTTPField(name: name, value: "opensesame") }
    }

    private static let rows: [Row] = {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try? Data(contentsOf: tests.appending(path: "Support/vectors/secrets.jsonl"))
        return (text ?? Data()).split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let row = try? JSON.parse(Array(line)), let name = row["name"]?.string,
                let isSecret = row["secret"]?.bool
            else { return nil }
            return Row(name: name, isSecret: isSecret)
        }
    }()

    /// Calls the closure with each row; it returns whether the user of the table hides the value.
    private func check(_ rows: [Row] = rows, at least: Int = 60, hides: (Row) throws -> Bool) rethrows {
        #expect(rows.count >= least)
        for row in rows { #expect(try hides(row) == row.isSecret, "\(row.name)") }
    }

    /// Without `Host`, which belongs to the URL.
    private var fields: [Row] { Self.rows.filter { $0.field != nil && $0.name != "Host" } }

    @Test("Header fields, for redirects to another origin")
    func redirects() throws {
        let head = ResponseHead.make(302, [("Location", "https://b.test/")])
        try check(fields, at: 50) { row in
            var request = TransportRequest(method: .get, url: try HTTPURL("https://a.test/"))
            request.fields = [try #require(row.field)]
            guard case .follow(let next) = RedirectHandler.follow.step(after: head, to: request, hop: 1) else {
                throw SessionError("not_followed", row.name)
            }
            return next.fields.isEmpty
        }
    }

    @Test("Header fields, in a line for curl")
    func curlLines() throws {
        try check(fields, at: 50) { row in
            var request = TransportRequest(method: .get, url: try HTTPURL("https://a.test/"))
            request.fields = [try #require(row.field)]
            return !CurlDescription.text(for: request).contains("opensesame")
        }
    }

    @Test("Header fields, in records and events that others read")
    func disclosure() {
        check { row in
            let disclosure = Disclosure()
            let isHidden = disclosure.shown("opensesame", of: row.name) == Redaction.mark
            #expect(disclosure.foundSecret == isHidden)
            return isHidden
        }
    }

    @Test("Header fields of a session, for other clients")
    func sessionFields() { check { Redaction.shown("opensesame", of: $0.name) == Redaction.mark } }

    @Test("Parameters of a URL") func parameters() {
        check { !Redaction.withoutSecrets("https://a.test/?a=b&\($0.name)=opensesame").contains("opensesame") }
    }

    @Test("A session's configuration: members, and fields as pairs") func configuration() throws {
        try check { row in
            let hidden = try [#"{"a":{"\#(row.name)":"opensesame"}}"#, #"{"h":[["\#(row.name)","opensesame"]]}"#].map {
                text in
                var writer = JSONWriter()
                SecretRedaction.write(try JSON.parse(Array(text.utf8)), to: &writer)
                return !String(decoding: writer.bytes, as: UTF8.self).contains("opensesame")
            }
            #expect(hidden[0] == hidden[1], "\(row.name)")
            return hidden[0]
        }
    }
}
