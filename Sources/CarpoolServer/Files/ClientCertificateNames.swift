internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Where the parts of a client certificate are, as a call names them; and their reading by a thread of a worker.
struct ClientCertificateNames: Sendable {
    /// The place of a text or a file.
    typealias Source = NamedContent

    /// Why a certificate was not read.
    enum Failure: Error, Sendable {
        /// A file or a descriptor is not read.
        case unread(NamedContent.Failure)
        /// The content cannot be used.
        case refused(ClientCertificate.Failure)
    }

    /// A certificate, and the digest of what it was read from, if there was memory for it.
    struct Read: Sendable {
        let certificate: ClientCertificate
        let digest: [UInt8]?
    }

    /// The result of reading.
    typealias Reading = Result<Read, Failure>

    let certificate: Source
    let key: Source?
    let password: Source?
    let format: ClientCertificate.Format?

    /// Finds the parts in a parameter that has passed its schema; `nil` if it names none.
    /// - Parameter place: the parameter.
    init?(_ json: JSON, at place: String) {
        guard let certificate = ClientCertificateNames.certificate(json, place) else { return nil }
        self.certificate = certificate
        key = ClientCertificateNames.key(json, place)
        password = ClientCertificateNames.password(json, place)
        format = json["type"]?.string.flatMap(ClientCertificate.Format.init)
    }

    private static func certificate(_ json: JSON, _ place: String) -> Source? {
        if let path = json["file"]?.string { return .file(.init(place: "\(place).file", path: path)) }
        if let text = json["pem"]?.withUTF8({ Array($0) }) { return .bytes(text) }
        if let text = json["base64"] {
            // What is no Base64 is refused before it is used.
            return .bytes((try? text.withUTF8 { (text) throws(JSONError) in try Base64.decode(text) }) ?? [])
        }
        return json["fd"]?.int.map { .descriptor($0) }
    }

    private static func key(_ json: JSON, _ place: String) -> Source? {
        if let path = json["key_file"]?.string { return .file(.init(place: "\(place).key_file", path: path)) }
        if let text = json["key_pem"]?.withUTF8({ Array($0) }) { return .bytes(text) }
        return json["key_fd"]?.int.map { .descriptor($0) }
    }

    private static func password(_ json: JSON, _ place: String) -> Source? {
        if let path = json["password_file"]?.string {
            return .file(.init(place: "\(place).password_file", path: path))
        }
        return json["password"]?.withUTF8 { .bytes(Array($0)) }
    }

    private var sources: [Source] { [certificate, key, password].compactMap(\.self) }

    /// The files that are opened by their paths.
    var paths: [NamedPath] {
        sources.compactMap { source in
            if case .file(let path) = source { return path }
            return nil
        }
    }

    /// Whether its files may be opened. Otherwise the parameter is refused.
    func canBeRead(byPath isAllowed: Bool) -> Bool {
        paths.allSatisfy { isAllowed && AbsolutePath.isOne($0.path) }
    }

    /// The files, and whether no other user may read them: all but certificates whose key is apart.
    var secrecy: [(name: NamedPath, isSecret: Bool)] {
        var secrecy = paths.map { (name: $0, isSecret: true) }
        if case .file = certificate, key != nil { secrecy[0].isSecret = false }
        return secrecy
    }

    /// The places of descriptors.
    var descriptors: [Int] {
        sources.compactMap { source in
            if case .descriptor(let index) = source { return index }
            return nil
        }
    }

    /// Reads everything. May block, and takes up to a second: for a thread of a worker.
    /// - Parameters:
    ///   - passed: the descriptors that came with the call.
    ///   - known: certificates in use, by the digests of what they were read from.
    ///   - readFile: reads a file; the last parameter is the most bytes.
    func read(
        _ passed: [Int: PassedDescriptor], known: [[UInt8]: ClientCertificate] = [:],
        readFile: (NamedPath, Int) throws(NamedContent.Failure) -> [UInt8] = NamedContent.readFile
    ) -> Reading {
        do throws(Failure) {
            let most = ClientCertificate.maximumBytes
            let certificate = try content(of: certificate, most, passed, readFile) ?? []
            let key = try content(of: key, most, passed, readFile)
            var password = try content(of: password, ClientCertificate.maximumPasswordBytes + 2, passed, readFile)
            if case .file = self.password, let text = password {
                password = Array(text.prefix { $0 != 0x0A && $0 != 0x0D })
            }
            let digest = ClientCertificate.inputDigest(certificate, key: key, format: format, password: password)
            if let digest, let known = known[digest] { return .success(Read(certificate: known, digest: digest)) }
            do throws(ClientCertificate.Failure) {
                let read = try ClientCertificate.read(certificate, key: key, format: format, password: password)
                return .success(Read(certificate: read, digest: digest))
            } catch {
                throw .refused(error)
            }
        } catch {
            return .failure(error)
        }
    }

    private func content(
        of source: Source?, _ most: Int, _ passed: [Int: PassedDescriptor],
        _ readFile: (NamedPath, Int) throws(NamedContent.Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8]? {
        do throws(NamedContent.Failure) {
            return try source?.content(atMost: most, passed, readFile: readFile)
        } catch {
            guard case .tooLarge(let size) = error else { throw .unread(error) }
            throw .refused(.unreadable(expected: "a file of at most \(most) bytes", found: "\(size) bytes"))
        }
    }
}
