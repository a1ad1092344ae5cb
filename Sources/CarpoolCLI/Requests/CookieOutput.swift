internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// Writes the jar of a finished request to the file of `--cookie-jar`, which is replaced atomically and which only its
/// owner can read.
struct CookieOutput {
    private let path: String
    private let pending: PendingRequest

    /// - Parameter path: `-` for standard output.
    init(_ path: String, _ pending: PendingRequest) {
        self.path = path
        self.pending = pending
    }

    /// Handles the record of the request, and writes its cookies in any case, as curl does. Those on standard output
    /// follow the body.
    func after(_ record: JSON, _ body: () throws(Failure) -> Void) throws(Failure) {
        var text: [UInt8] = []
        if let cookies = record["cookies"] { text = try complete(cookies) }
        do throws(Failure) { try body() } catch {
            try? write(text)
            throw error
        }
        try write(text)
    }

    private func write(_ text: [UInt8]) throws(Failure) {
        guard path != "-" else { return try Terminal.print(text) }
        try Terminal.write(path) { () throws(SystemError) in
            let output = try OutputFile(path, mode: 0o600)
            try BlockingOutput(borrowing: output.descriptor.raw, isNamed: true).write(text)
            try output.commit()
        }
    }

    /// The text of the record, or all pages of it if the record was too short.
    private func complete(_ cookies: JSON) throws(Failure) -> [UInt8] {
        guard cookies["left_out"] != nil else { return cookies["text"]?.withUTF8 { Array($0) } ?? [] }
        var text: [UInt8] = []
        var next: String?
        repeat {
            let page = try pending.call("cookies.export") { writer in
                writer.member("limit", CookieOutput.pageCookies)
                writer.member("next", next)
            }
            page["text"]?.withUTF8 { text += $0 }
            next = page["next"]?.string
        } while next != nil
        return text
    }

    private static let pageCookies = 1_000
}
