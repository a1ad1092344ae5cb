internal import CarpoolJSON
public import CarpoolSystem
internal import Glibc

/// The point at which a download stopped: the content of its token, and the partial file, if it still exists.
public struct ResumePoint {
    /// The destination of the file.
    public let destination: String?
    /// The partial file; `nil` if it is gone, so that the download restarts.
    let partial: PartialFile?
    let validator: EntityValidator
    let total: Int64?

    /// Why a token cannot be used.
    public enum Refusal: Error {
        /// It is not a token of Carpool, or of another version.
        case notAToken
        /// Its partial file cannot be opened: EPERM if it is not a file of this user, EWOULDBLOCK if another request is
        /// resuming it.
        case cannotOpen(path: String, SystemError)
    }

    /// Reads a token whose partial file was opened before.
    /// - Parameter found: the result of ``PartialFileOpening`` for the path in the token.
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
            // Bytes that were written after the token was made are valid; with fewer bytes it is another file.
            let isPlausible = file.count >= token.bytes && file.count <= token.total ?? .max
            partial = isPlausible ? file : nil
            if !isPlausible { file.remove() }
        } catch {
            guard error.code == ENOENT else { throw .cannotOpen(path: token.partial, error) }
            partial = nil
        }
    }

    /// The path of the partial file in a token, and that of the destination; `nil` if it is not a valid token.
    public static func paths(token text: String) -> (partial: String, destination: String?)? {
        ResumeToken(text).map { ($0.partial, $0.destination) }
    }
}

/// The resume token of a download, in a form that a client can store: JSON in base64url without padding (RFC 4648,
/// section 5).
struct ResumeToken: Equatable {
    /// The requested URL, without a password: for information only, since another URL of the same resource works too.
    var url: String
    var validator: EntityValidator
    /// How many bytes were written when the token was made; the file may have more by now.
    var bytes: Int64
    /// The size of the whole body, if it is known.
    var total: Int64?
    /// The path of the partial file.
    var partial: String
    /// The path of the destination.
    var destination: String?

    private static let version = 1
    /// The longest token that is accepted: two paths and a URL.
    private static let maximumBytes = 98_304

    /// The token in its encoded form.
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
    /// Decodes a token; `nil` for anything else.
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
