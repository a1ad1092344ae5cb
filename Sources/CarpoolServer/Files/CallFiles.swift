internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

/// The files of one call, opened and inspected before the call is carried out. Unused files are closed with this
/// object.
final class CallFiles {
    /// The opened file, or why it was not opened.
    typealias Opening = Result<NamedFile, RegularFile.Failure>

    typealias Passed = PassedDescriptor

    /// The results for all files.
    struct Found: Sendable {
        /// By the parameter with the path.
        var opened: [String: Opening] = [:]
        /// By the object that names or holds them.
        var trust: [String: TrustMaterialFiles.Reading] = [:]
        /// The client certificate, if the call names one.
        var clientCertificate: ClientCertificateNames.Reading?
        /// Passwords, by the parameter.
        var passwords: [String: PasswordNames.Reading] = [:]
        /// By the descriptor's place in the call.
        var passed: [Int: Passed] = [:]
        /// Where a download goes, and what it resumes.
        var destination: FoundDestination?
        /// Whether the client may name paths, if the call names any.
        var access: PathAccess?

        /// Opens a file whose bytes are sent. May block.
        mutating func open(_ name: CallFileNames.Path, _ closer: WorkerFile.Closer) {
            do throws(RegularFile.Failure) {
                opened[name.place] = .success(try NamedFile.open(name.path, closer: closer))
            } catch {
                opened[name.place] = .failure(error)
            }
        }

        /// Reads certificates or revocation lists. May block.
        mutating func read(_ names: TrustMaterialNames, _ files: inout TrustMaterialFiles) {
            trust[names.place] = files.material(names)
        }
    }

    /// Files, by the parameter with the path.
    let opened: [String: Opening]
    /// Certificates and revocation lists, by the object that names or holds them.
    let trust: [String: TrustMaterialFiles.Reading]
    /// The client certificate, if the call names one that was read.
    let clientCertificate: ClientCertificateNames.Reading?
    /// Passwords, by the parameter.
    let passwords: [String: PasswordNames.Reading]
    /// How many descriptors were passed with the call.
    let descriptorCount: Int
    /// Where a download goes, and what it resumes, if the call names one of these.
    let destination: FoundDestination?
    private var passed: [Int: Passed]
    private let access: PathAccess?

    /// No files.
    static var none: CallFiles { CallFiles(Found(), descriptorCount: 0) }

    init(_ found: Found, descriptorCount: Int) {
        opened = found.opened
        trust = found.trust
        clientCertificate = found.clientCertificate
        passwords = found.passwords
        passed = found.passed
        destination = found.destination
        access = found.access
        self.descriptorCount = descriptorCount
    }

    /// The bytes of the passwords, which stay in memory with the request or the session.
    var passwordBytes: Int { passwords.values.reduce(0) { $0 &+ ((try? $1.get().count) ?? 0) } }

    /// Returns a descriptor, once.
    func claim(descriptor index: Int) -> Passed? { passed.removeValue(forKey: index) }

    /// Whether the client may name paths: what was found when the files were named, or else what is found now. To
    /// inspect the client's process a second time costs as much as a small request.
    func access(or current: @autoclosure () -> PathAccess) -> PathAccess { access ?? current() }

    // MARK: Descriptors

    /// Inspects a descriptor if no file system, and no lock of a pipe or a socket, has to be waited for; `nil`
    /// otherwise.
    static func lookAtOnce(_ descriptor: WorkerFile) -> Passed? {
        let raw = descriptor.raw
        // The daemon reads only what the caller may read itself; opening the file again would use the daemon's rights.
        guard FileDescriptor.isReadable(raw) else { return .refused(errno) }
        return FileDescriptor.isInMemory(raw) ? look(descriptor, isInMemory: true) : nil
    }

    /// Inspects a descriptor. May block, unless it is a file in memory: for a thread of a ``Worker``.
    static func look(_ descriptor: WorkerFile, isInMemory: Bool) -> Passed {
        .inspected { kind(of: descriptor, isInMemory: isInMemory) }
    }

    private static func kind(of descriptor: WorkerFile, isInMemory: Bool) -> Passed {
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else { return .refused(errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            guard !FileDescriptor.isInProc(descriptor.raw) else { return .refused(EINVAL) }
            return .file(descriptor, size: Int64(status.st_size), isInMemory: isInMemory)
        case S_IFIFO: return .stream(descriptor, isSocket: false)
        case S_IFSOCK:
            let family = FileDescriptor.socketFamily(descriptor.raw) ?? AF_UNSPEC
            guard PassedDescriptor.families.contains(family) else { return .otherSocket(family: family) }
            let isConnected = FileDescriptor.isConnectedStream(descriptor.raw)
            return .stream(descriptor, isSocket: true, isConnected: isConnected)
        case S_IFDIR: return .refused(EISDIR)
        default: return .refused(EINVAL)
        }
    }
}
