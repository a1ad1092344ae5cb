internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem
internal import Glibc

/// Reads the files that the configuration names, each path once, so that all sessions see the same content. May block:
/// for a thread of a worker, or before the loop runs.
struct ConfigurationFiles {
    /// Why a file is refused.
    struct Refusal: Error {
        /// One line with the path.
        let message: String
        /// The remedy.
        let expected: String
    }

    /// The most bytes of a secret.
    static let secretBytes = 8_192

    /// The most bytes of all files.
    private let limit: Int
    private var bytes = 0
    private var secrets: [String: String] = [:]
    private var contents: [String: [UInt8]] = [:]
    private let known = KnownTrustMaterial()
    private var parsed = TrustMaterialFiles.Parsed()
    private var certificates: [String: (content: [UInt8], isSecret: Bool)] = [:]

    /// Reads nothing yet.
    /// - Parameter limit: the most bytes of all files.
    init(limit: Int) { self.limit = limit }

    /// The text of a file that no other user can read, without the newline at its end.
    mutating func secret(at path: String) throws(Refusal) -> String {
        if let known = secrets[path] { return known }
        var content = try content(of: path, isSecret: true, atMost: ConfigurationFiles.secretBytes)[...]
        if content.last == 0x0A { content.removeLast() }
        guard content.contains(where: { $0 > 0x20 }) else {
            throw Refusal(message: "\(path) is empty", expected: "a file with the secret as its only line")
        }
        guard content.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), let text = String(validating: content, as: UTF8.self)
        else {
            throw Refusal(
                message: "\(path) has a line break, a control character or bytes that are not UTF-8",
                expected: "a file with the secret as its only line")
        }
        secrets[path] = text
        return text
    }

    /// Certificates or revocation lists, of files that no other user can write.
    mutating func material(_ names: TrustMaterialNames) throws(JSONError) -> TrustMaterialFiles.Reading {
        // Read before they are parsed, so that a closure need not change this value.
        var contents: [String: [UInt8]] = [:]
        for (place, path) in names.paths where contents[path] == nil {
            do throws(Refusal) { contents[path] = try publicContent(of: path) } catch {
                throw .refused(error.message, path: place, expected: error.expected)
            }
        }
        var reader = TrustMaterialFiles(known: known, parsed: parsed, bytesLeft: .max) {
            (path, place) throws(TrustMaterialFiles.Refusal) in
            guard let content = contents[path] else {
                throw TrustMaterialFiles.Refusal(
                    error: .invalidParams(
                        path: place, message: "a directory cannot be named here", expected: "ca_file or ca_pem"))
            }
            return content
        }
        defer { parsed = reader.parsed }
        return reader.material(names)
    }

    /// The content of a client certificate, its key or its password.
    mutating func certificate(at path: String, isSecret: Bool, atMost maximum: Int) throws(Refusal) -> [UInt8] {
        // A file that is a secret for one session is checked again for it.
        if let known = certificates[path], known.isSecret || !isSecret { return known.content }
        let content = try content(of: path, isSecret: isSecret, atMost: maximum)
        certificates[path] = (content, isSecret)
        return content
    }

    private mutating func publicContent(of path: String) throws(Refusal) -> [UInt8] {
        if let known = contents[path] { return known }
        let content = try content(of: path, isSecret: false, atMost: TrustStore.maximumBytes)
        contents[path] = content
        return content
    }

    private mutating func content(of path: String, isSecret: Bool, atMost maximum: Int) throws(Refusal) -> [UInt8] {
        let file = try ConfigurationFiles.open(path, isSecret: isSecret)
        guard file.size <= Int64(maximum) else {
            throw Refusal(message: "\(path) has \(file.size) bytes", expected: "at most \(maximum) bytes")
        }
        let content: [UInt8]
        do throws(SystemError) {
            content = try Bytes.readAll(file.descriptor.raw, atMost: maximum, path: path)
        } catch {
            throw Refusal(message: "cannot read \(path): \(error.reason)", expected: "a file that carpoold can read")
        }
        bytes += content.count
        guard bytes <= limit else {
            throw Refusal(
                message: "the files that the sessions name have more than \(limit) bytes",
                expected: "fewer or smaller files, or a larger limits.declared_session_file_bytes")
        }
        return content
    }

    private static func open(_ path: String, isSecret: Bool) throws(Refusal) -> RegularFile {
        guard AbsolutePath.isOne(path) else {
            throw Refusal(
                message: "the path \(path.prefix(200).debugDescription) is not absolute", expected: "an absolute path")
        }
        let file: RegularFile
        do throws(RegularFile.Failure) {
            file = try RegularFile.open(path)
        } catch {
            if case .notRegular(let reason) = error {
                let kind = reason.code == EISDIR ? "a directory and no regular file" : "no regular file"
                throw Refusal(message: "\(path) is \(kind)", expected: "a regular file")
            }
            throw Refusal(
                message: "cannot open \(path): \(error.reason.reason)", expected: "a file that carpoold can read")
        }
        if let fault = FileOwnership.fault(of: file, isSecret: isSecret) {
            throw Refusal(message: "\(path) \(fault.description)", expected: fault.remedy(for: path))
        }
        return file
    }
}

/// Checks that no other user can change a file of the configuration, or read a secret. On the descriptor that is read,
/// so that a changed name has no effect.
enum FileOwnership {
    /// Why a file is not used.
    enum Fault: CustomStringConvertible {
        /// It belongs to another user than the daemon's and root.
        case owner(UInt32)
        /// Its mode lets others write it.
        case writable(mode: UInt32)
        /// Its mode lets others read it, and it is a secret.
        case readable(mode: UInt32)

        var description: String {
            switch self {
            case .owner(let owner): "belongs to user \(owner)"
            case .writable(let mode): "may be written by others (mode \(String(mode, radix: 8)))"
            case .readable(let mode): "may be read by others (mode \(String(mode, radix: 8)))"
            }
        }

        /// The command that removes the fault.
        func remedy(for path: String) -> String {
            switch self {
            case .owner: "a file of the daemon's user \(geteuid()) or of root (chown \(geteuid()) \(path))"
            case .writable: "a file that only its owner can write (chmod go-w \(path))"
            case .readable: "a file that only its owner can read (chmod 600 \(path))"
            }
        }
    }

    /// The first fault of a file; `nil` if it can be used.
    static func fault(of file: borrowing RegularFile, isSecret: Bool) -> Fault? {
        guard file.owner == geteuid() || file.owner == 0 else { return .owner(file.owner) }
        if file.permissions & 0o022 != 0 { return .writable(mode: file.permissions) }
        return isSecret && file.permissions & 0o077 != 0 ? .readable(mode: file.permissions) : nil
    }
}
