internal import CarpoolJSON
public import CarpoolSystem
internal import Glibc

/// Where a download broke off: what its token says, and the partial file, if it is still there.
public struct ResumePoint {
    /// Where the file was to go.
    public let destination: String?
    /// The bytes that are there; `nil` if they are not, so that the download begins anew.
    let partial: PartialFile?
    let validator: EntityValidator
    let total: Int64?

    /// Why a token is of no use.
    public enum Refusal: Error {
        /// It is none of Carpool's, or of another version.
        case notAToken
        /// Its partial file is not to be had: EPERM if it is no file of this user's, EWOULDBLOCK if another request goes on with it.
        case cannotOpen(path: String, SystemError)
    }

    /// Reads a token whose partial file was looked for before.
    /// - Parameter found: what ``PartialFileOpening`` has found at the place that the token names.
    public init(
        token text: String, _ found: PartialFileOpening, index: PartialFileIndex?, _ store: FileStore,
        for share: WorkerShare
    ) throws(Refusal) {
        guard let token = ResumeToken(text) else { throw .notAToken }
        destination = token.destination
        validator = token.validator
        total = token.total
        do throws(SystemError) {
            let file = PartialFile(try found.take(), index: index, store, share)
            // What was written after the token was made is as good; fewer bytes than that are another file's.
            let isPlausible = file.count >= token.bytes && file.count <= token.total ?? .max
            partial = isPlausible ? file : nil
            if !isPlausible { file.remove() }
        } catch {
            guard error.code == ENOENT else { throw .cannotOpen(path: token.partial, error) }
            partial = nil
        }
    }

    /// The place of the partial file that a token names, and that of the file; `nil` if it is no token.
    public static func places(token text: String) -> (partial: String, destination: String?)? {
        ResumeToken(text).map { ($0.partial, $0.destination) }
    }
}

/// All that is needed to go on with a download, in a form that a client can keep: JSON in base64url without padding (RFC 4648, section 5).
struct ResumeToken: Equatable {
    /// What was asked for, without a password: for people, as another URL of the same resource will do.
    var url: String
    var validator: EntityValidator
    /// How many bytes were there when the token was made; the file may have more by now.
    var bytes: Int64
    /// How many the whole has, if that is known.
    var total: Int64?
    /// Where the bytes are.
    var partial: String
    /// Where they were to go.
    var destination: String?

    private static let version = 1
    /// The longest token that is read: two paths and a URL.
    private static let maximumBytes = 98_304

    /// The token as text.
    var text: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("v", ResumeToken.version)
        writer.member("url", url)
        switch validator {
        case .entityTag(let tag): writer.member("etag", tag)
        case .lastModified(let date): writer.member("last_modified", date)
        }
        writer.member("bytes", bytes)
        if let total { writer.member("total", total) }
        writer.member("partial", partial)
        if let destination { writer.member("destination", destination) }
        writer.endObject()
        var encoded: [UInt8] = []
        writer.withBytes { Base64.encode($0, into: &encoded) }
        let safe = encoded.prefix { $0 != UInt8(ascii: "=") }.map { byte in
            byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
        }
        return String(decoding: safe, as: UTF8.self)
    }
}

extension ResumeToken {
    /// Reads a token; `nil` for anything else.
    init?(_ text: String) {
        guard text.utf8.count <= ResumeToken.maximumBytes, let json = ResumeToken.json(text),
            json["v"]?.int == ResumeToken.version, let url = json["url"]?.string,
            let bytes = json["bytes"]?.integer, bytes >= 0, let partial = json["partial"]?.string,
            !partial.utf8.contains(0)
        else { return nil }
        let tag = json["etag"]?.string.map { EntityValidator.entityTag($0) }
        guard let validator = tag ?? json["last_modified"]?.string.map({ EntityValidator.lastModified($0) }) else {
            return nil
        }
        self.init(
            url: url, validator: validator, bytes: bytes, total: json["total"]?.integer, partial: partial,
            destination: json["destination"]?.string)
    }

    private static func json(_ text: String) -> JSON? {
        var standard = text.utf8.map { byte in
            byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
        }
        standard += repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        let bytes = try? standard.withUnsafeBytes { try Base64.decode($0) }
        return bytes.flatMap { try? JSON.parse($0) }
    }
}
