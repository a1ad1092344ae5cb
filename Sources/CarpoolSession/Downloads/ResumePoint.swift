internal import CarpoolHTTP
internal import CarpoolJSON
public import CarpoolSystem
internal import Glibc

/// The point at which a download stopped: the content of its token, and the partial file, if it still exists.
public struct ResumePoint {
    /// The destination of the file.
    public let destination: String?
    /// The partial file; `nil` if it is gone, so that the download restarts.
    let partial: PartialFile?
    /// Why the download restarts; `nil` if it does not.
    let restartReason: DownloadRestartReason?
    let validator: EntityValidator
    let source: EntitySource?
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
        source = token.knownSource
        total = token.total
        do throws(SystemError) {
            let file = PartialFile(try found.take(), validator: token.mark, index: index, store, share)
            restartReason = ResumePoint.restartReason(found.fit, file, token)
            partial = restartReason == nil ? file : nil
            if restartReason != nil { file.remove() }
        } catch {
            guard error.code == ENOENT else { throw .cannotOpen(path: token.partial, error) }
            (partial, restartReason) = (nil, .partialFileLost)
        }
    }

    private static func restartReason(
        _ fit: PartialFit, _ file: PartialFile, _ token: ResumeToken
    ) -> DownloadRestartReason? {
        switch fit {
        case .lost: .partialFileLost
        case .changed: .partialFileChanged
        case .intact: file.count <= token.total ?? .max ? nil : .partialFileChanged
        }
    }

    /// What a token says of its partial file, and the path of the destination; `nil` if it is not a valid token.
    public static func places(token text: String) -> (partial: PartialClaim, destination: String?)? {
        ResumeToken(text).map { token in
            let claim = PartialClaim(
                path: token.partial, validator: token.mark, bytes: token.bytes, checksum: token.checksum)
            return (claim, token.destination)
        }
    }
}

/// The resume token of a download, in a form that a client can store: JSON in base64url without padding (RFC 4648,
/// section 5).
struct ResumeToken: Equatable {
    /// The requested URL, without a password: for information only, since another URL of the same resource works too.
    var url: String
    var validator: EntityValidator
    /// The resource of the bytes; `nil` for that of the requested URL.
    var source: EntitySource?
    /// How many bytes were written when the token was made; the file may have more by now.
    var bytes: Int64
    /// The checksum of these bytes, for file systems without extended attributes.
    var checksum: UInt32?
    /// The size of the whole body, if it is known.
    var total: Int64?
    /// The path of the partial file.
    var partial: String
    /// The path of the destination.
    var destination: String?

    /// The resource of the bytes; `nil` if it is not known.
    var knownSource: EntitySource? {
        source ?? (try? HTTPURL(url)).map { EntitySource($0, isRedirected: false, validator) }
    }

    /// What the record of the partial file says of its bytes.
    var mark: String { PartialRecord.mark(validator.text, source: knownSource?.hash) }

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
        if let source, !source.isImplied {
            writer.member("source", source.hash)
            if source.isRedirected { writer.member("redirected", true) }
        }
        writer.member("bytes", bytes)
        if let checksum { writer.member("crc32", Int64(checksum)) }
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
            url: url, validator: validator,
            source: json["source"]?.string.map {
                EntitySource(hash: $0, isRedirected: json["redirected"]?.bool == true)
            }, bytes: bytes,
            checksum: json["crc32"]?.integer.flatMap { UInt32(exactly: $0) }, total: json["total"]?.integer,
            partial: partial,
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
