internal import CTLS
public import CarpoolSystem

/// Certificate authorities, read and parsed once and used by every connection that trusts them.
///
/// libcurl would open the file by its name for a connection, and parse it on the loop's thread: 0.16 ms for each
/// certificate. So a thread of a ``Worker`` makes the store, and libcurl is given it for each connection.
///
/// `@unchecked Sendable` because nothing changes it once it is made, and OpenSSL counts its references atomically.
public final class TrustStore: @unchecked Sendable {
    /// Why there is no store.
    public enum Failure: Error, Sendable, Equatable {
        /// The file cannot be opened.
        case cannotOpen(RegularFile.Failure)
        /// It cannot be read.
        case cannotRead(SystemError)
        /// The file is too large: it has this many bytes or more.
        case tooLarge(bytes: Int64)
        /// It holds no certificate.
        case noCertificate
        /// The certificate of this number, counted from 1, cannot be read.
        case badCertificate(number: Int)
    }

    /// The SHA-256 of its content, in hexadecimal digits.
    public let digest: String
    /// The number of certificates.
    public let count: Int
    /// The number of bytes that it was parsed from; 0 if it was made of others.
    public let contentBytes: Int
    let raw: OpaquePointer

    /// The largest file that is read: five times the system's own list of authorities.
    public static let maximumBytes = 1_048_576

    /// Makes a store of the certificates in a PEM text. Slow: for a thread of a ``Worker``.
    public convenience init(pem: [UInt8]) throws(Failure) {
        try self.init(pem: pem, digest: SHA256Digest.text(of: pem))
    }

    private init(pem: [UInt8], digest: String) throws(Failure) {
        var count: Int32 = 0
        guard let store = pem.withUnsafeBytes({ CTLS_store($0.baseAddress, $0.count, &count) }) else {
            throw .badCertificate(number: Int(count) + 1)
        }
        guard count > 0 else {
            X509_STORE_free(store)
            throw .noCertificate
        }
        self.digest = digest
        self.count = Int(count)
        contentBytes = pem.count
        raw = store
    }

    /// Takes over OpenSSL's object, which nothing changes any more.
    init(owning raw: OpaquePointer, digest: String, count: Int) {
        self.raw = raw
        self.digest = digest
        self.count = count
        contentBytes = 0
    }

    deinit { X509_STORE_free(raw) }

    /// Reads a file. May block: for a thread of a ``Worker``.
    /// - Parameter known: stores that exist, by their digests: a file of the same content is not parsed again.
    public static func read(_ path: String, known: [String: TrustStore] = [:]) throws(Failure) -> TrustStore {
        try make(pem: try content(of: path)) { known[$0] }
    }

    /// Makes a store of the certificates in a PEM text, unless there is one. Slow: for a thread of a ``Worker``.
    /// - Parameter known: the store with a digest, if it exists.
    public static func make(pem: [UInt8], known: (String) -> TrustStore?) throws(Failure) -> TrustStore {
        let digest = SHA256Digest.text(of: pem)
        if let known = known(digest) { return known }
        return try TrustStore(pem: pem, digest: digest)
    }

    /// The store that was made of the same text; `nil` if there is none. Takes a microsecond for each kilobyte or less.
    /// - Parameter stores: the store with a digest, if it exists.
    public static func known(pem: [UInt8], among stores: (String) -> TrustStore?) -> TrustStore? {
        stores(SHA256Digest.text(of: pem))
    }

    /// Reads a file of certificates or revocation lists. May block: for a thread of a ``Worker``.
    public static func content(of path: String) throws(Failure) -> [UInt8] {
        let file: RegularFile
        do throws(RegularFile.Failure) { file = try RegularFile.open(path) } catch { throw .cannotOpen(error) }
        guard file.size <= Int64(maximumBytes) else { throw .tooLarge(bytes: file.size) }
        do throws(SystemError) {
            return try Bytes.readAll(file.descriptor.raw, atMost: maximumBytes, path: path)
        } catch {
            throw .cannotRead(error)
        }
    }
}

/// Certificate authorities from a caller's file, and no others. Equal if their content is.
///
/// An object, because every copy of a request has a reference to it.
public final class TrustedAuthorities: Hashable, Sendable {
    /// The authorities.
    public let store: TrustStore
    /// The path of the file.
    public let path: String

    /// Makes authorities of a store and its path.
    public init(_ store: TrustStore, path: String) {
        self.store = store
        self.path = path
    }

    /// The path, with authorities that trust nothing.
    var withoutContent: TrustedAuthorities {
        TrustedAuthorities.nothing.map { TrustedAuthorities($0, path: path) } ?? self
    }

    private static let nothing = TrustStore([])

    /// Whether the content is the same, whatever the path.
    public static func == (a: TrustedAuthorities, b: TrustedAuthorities) -> Bool { a.store.digest == b.store.digest }

    /// The content's digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(store.digest) }
}
