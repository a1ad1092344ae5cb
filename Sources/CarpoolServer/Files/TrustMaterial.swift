internal import CarpoolHTTP
internal import CarpoolRPC
internal import CarpoolSystem
internal import Glibc

/// Certificates or revocation lists, parsed by a thread of the worker.
enum TrustMaterial: Sendable {
    /// Certificate authorities.
    case authorities(TrustedAuthorities)
    /// Revocation lists.
    case lists(CertificateRevocationLists)
    /// Certificates that are pinned.
    case pins(CertificatePins)
    /// Public keys that are pinned.
    case keys([PublicKeyPin])
}

/// The certificates or revocation lists that one object of a call names or holds, before they are read.
struct TrustMaterialNames: Sendable {
    /// A file, a directory of files, or a text.
    struct Source: Sendable {
        enum Content: Sendable {
            case file(String)
            case directory(String)
            case text([UInt8])
        }

        /// The parameter.
        let place: String
        let content: Content

        /// The path of the file, if it is one.
        var path: String? {
            if case .file(let path) = content { path } else { nil }
        }
    }

    /// What is made of the sources.
    enum Kind: Sendable {
        case authorities
        case lists
        case pins(acceptsSelfSigned: Bool, performsDefaultValidation: Bool, validatesHost: Bool)
        case keys
    }

    /// The object that has the sources, such as `params.trust`.
    let place: String
    let sources: [Source]
    let kind: Kind

    /// Whether files are opened by their paths.
    var namesPaths: Bool {
        sources.contains { source in
            if case .text = source.content { false } else { true }
        }
    }

    /// The paths, to be checked before they are opened.
    var paths: [(place: String, path: String)] {
        sources.compactMap { source in
            switch source.content {
            case .file(let path), .directory(let path): (source.place, path)
            case .text: nil
            }
        }
    }
}

/// Reads the certificates and revocation lists of a call, each file once. May block: for a thread of a ``Worker``.
struct TrustMaterialFiles {
    /// The result of reading.
    typealias Reading = Result<TrustMaterial, RPCError>

    /// Why a file or a text was refused.
    struct Refusal: Error {
        let error: RPCError
    }

    /// What was parsed, by the path of its file.
    struct Parsed {
        fileprivate var lists: [String: CertificateRevocationLists] = [:]
        fileprivate var certificates: [String: [X509Certificate]] = [:]
        fileprivate var keys: [String: [PublicKeyPin]] = [:]
    }

    /// What is in use: it is not parsed again.
    let known: KnownTrustMaterial
    /// What was parsed.
    var parsed = Parsed()
    /// How many bytes may still be read.
    var bytesLeft = TrustMaterialFiles.maximumCallBytes
    /// Reads a file for a parameter.
    let read: (_ path: String, _ place: String) throws(Refusal) -> [UInt8]

    /// The most files of a directory.
    private static let maximumFiles = 1_000
    /// The most bytes of all sources of an object.
    private static let maximumBytes = TrustStore.maximumBytes
    /// The most bytes of all files and texts of a call: a thread parses them before the call counts anywhere.
    private static let maximumCallBytes = 8_388_608

    /// Reads and parses the sources.
    mutating func material(_ names: TrustMaterialNames) -> Reading {
        do throws(Refusal) { return .success(try parse(names)) } catch { return .failure(error.error) }
    }

    private mutating func parse(_ names: TrustMaterialNames) throws(Refusal) -> TrustMaterial {
        switch names.kind {
        case .authorities: return .authorities(try authorities(names))
        case .lists:
            guard let source = names.sources.first else {
                throw TrustMaterialFiles.refusal(.empty, "revocation list", at: names.place)
            }
            return .lists(try lists(source))
        case .pins(let acceptsSelfSigned, let performsDefaultValidation, let validatesHost):
            let pins = CertificatePins(
                try certificates(names), acceptsSelfSigned: acceptsSelfSigned,
                performsDefaultValidation: performsDefaultValidation, validatesHost: validatesHost)
            return .pins(known.shared(pins))
        case .keys: return .keys(try keys(names))
        }
    }

    private mutating func authorities(_ names: TrustMaterialNames) throws(Refusal) -> TrustedAuthorities {
        guard let source = names.sources.first else {
            throw TrustMaterialFiles.refusal(.empty, "certificate", at: names.place)
        }
        var bytes = try content(source)
        for other in names.sources.dropFirst() { bytes += try [0x0A] + content(other) }
        do throws(TrustStore.Failure) {
            let store = try TrustStore.make(pem: bytes) { [known] in known.store($0) }
            known.note(store)
            return TrustedAuthorities(store, path: names.paths.first?.path ?? "")
        } catch {
            throw Refusal(error: .untrusted(error, path: names.paths.first?.path ?? "", at: source.place))
        }
    }

    private mutating func lists(_ source: TrustMaterialNames.Source) throws(Refusal) -> CertificateRevocationLists {
        if let path = source.path, let lists = parsed.lists[path] { return lists }
        let bytes = try content(source)
        let lists = try TrustMaterialFiles.parsing("revocation list", source.place) {
            [known] () throws(TrustMaterialError) in
            try CertificateRevocationLists.make(bytes) { known.lists($0) }
        }
        known.note(lists)
        if let path = source.path { parsed.lists[path] = lists }
        return lists
    }

    private mutating func certificates(_ source: TrustMaterialNames.Source) throws(Refusal) -> [X509Certificate] {
        if let path = source.path, let certificates = parsed.certificates[path] { return certificates }
        let bytes = try content(source)
        let certificates = try TrustMaterialFiles.parsing("certificate", source.place) {
            () throws(TrustMaterialError) in try X509Certificate.parse(bytes)
        }
        if let path = source.path { parsed.certificates[path] = certificates }
        return certificates
    }

    private mutating func certificates(_ names: TrustMaterialNames) throws(Refusal) -> [X509Certificate] {
        var certificates: [X509Certificate] = []
        for source in names.sources {
            certificates += try self.certificates(source)
            guard certificates.count <= CertificatePins.maximumCount else {
                throw TrustMaterialFiles.refusal(
                    .tooMany(limit: CertificatePins.maximumCount), "certificate", at: source.place)
            }
        }
        return certificates
    }

    private mutating func keys(_ names: TrustMaterialNames) throws(Refusal) -> [PublicKeyPin] {
        var keys: [PublicKeyPin] = []
        for source in names.sources {
            if let path = source.path, let known = parsed.keys[path] {
                keys += known
            } else {
                let bytes = try content(source)
                let read = try TrustMaterialFiles.parsing("certificate or public key", source.place) {
                    () throws(TrustMaterialError) in try PublicKeyPin.parse(bytes)
                }
                if let path = source.path { parsed.keys[path] = read }
                keys += read
            }
            guard keys.count <= CertificatePins.maximumCount else {
                throw TrustMaterialFiles.refusal(
                    .tooMany(limit: CertificatePins.maximumCount), "certificate", at: source.place)
            }
        }
        return keys
    }

    private static func parsing<Value>(
        _ kind: String, _ place: String, _ body: () throws(TrustMaterialError) -> Value
    ) throws(Refusal) -> Value {
        do throws(TrustMaterialError) { return try body() } catch { throw refusal(error, kind, at: place) }
    }

    /// - Parameter kind: what is read, in the singular.
    private static func refusal(_ error: TrustMaterialError, _ kind: String, at place: String) -> Refusal {
        let message =
            switch error {
            case .tooLarge(let limit): "more than \(limit) bytes"
            case .empty: "holds no \(kind)"
            case .unreadable(let number): "\(kind) \(number) cannot be read"
            case .tooMany(let limit): "more than \(limit) entries"
            case .unsupportedList(let number):
                "list \(number) is a delta list, an indirect one, one of some reasons, or has unknown critical extensions"
            }
        return Refusal(error: .invalidParams(path: place, message: message, expected: "\(kind)s, PEM or DER"))
    }

    // MARK: Sources

    private mutating func content(_ source: TrustMaterialNames.Source) throws(Refusal) -> [UInt8] {
        let bytes =
            switch source.content {
            case .text(let bytes): bytes
            case .file(let path): try read(path, source.place)
            case .directory(let path): try readDirectory(path, source.place)
            }
        bytesLeft -= bytes.count
        guard bytesLeft >= 0 else {
            throw Refusal(
                error: .invalidParams(
                    path: source.place,
                    message: "with it the files have more than \(TrustMaterialFiles.maximumCallBytes) bytes",
                    expected: "fewer or smaller files in one call"))
        }
        return bytes
    }

    /// The PEM files of a directory, one after the other, in the order of their names.
    private func readDirectory(_ path: String, _ place: String) throws(Refusal) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in try TrustMaterialFiles.names(in: path, place) {
            bytes += try read("\(path)/\(name)", place)
            bytes.append(0x0A)
            guard bytes.count <= TrustMaterialFiles.maximumBytes else {
                throw Refusal(
                    error: .invalidParams(
                        path: place, message: "its files have more than \(TrustMaterialFiles.maximumBytes) bytes",
                        expected: "fewer certificates"))
            }
        }
        return bytes
    }

    /// The names of PEM files.
    private static func names(in path: String, _ place: String) throws(Refusal) -> [String] {
        var names: Set<String> = []
        let code = CertificateFolder.forEachName(in: path) { name in
            names.insert(name)
            return names.count <= maximumFiles
        }
        if let code {
            throw Refusal(error: .cannotOpen(path: path, code: code, reason: String(cString: strerror(code))))
        }
        guard names.count <= maximumFiles else {
            throw Refusal(
                error: .invalidParams(
                    path: place, message: "the directory has more than \(maximumFiles) certificates",
                    expected: "fewer files"))
        }
        return names.sorted()
    }
}

extension TrustMaterialFiles {
    /// Reads files for a client.
    init(known: KnownTrustMaterial) {
        self.init(known: known) { (path, place) throws(Refusal) in
            do throws(TrustStore.Failure) { return try TrustStore.content(of: path) } catch {
                throw Refusal(error: .untrusted(error, path: path, at: place))
            }
        }
    }
}
