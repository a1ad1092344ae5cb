internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The parameters of the connections of an operation: trust, TLS, the client certificate and addresses.
struct CurlSettings {
    private var trust = TrustArguments()
    private var connection = ConnectionArguments()
    /// The longest file whose text is sent: some ten certificates. To send more takes longer than to open a file.
    private static let maximumTextBytes = 16_384
    /// The daemon's maximum.
    private static let maximumDirectories = 16
    /// The file of `--crlfile`.
    private var lists: String?
    /// The first entry of `--resolve` that is none.
    private var badEntry: String?
    private var hasReadFiles = false

    /// Makes them from the options and the variables that curl reads.
    init(_ operation: CurlOperation, _ environment: Environment) throws(CurlError) {
        let security = operation.security
        setTrust(security, environment)
        do throws(UsageError) {
            if let certificate = security.certificate { try connection.setCertificate(certificate) }
            if let type = security.certificateType { try connection.setCertificateType(type) }
            if let interface = operation.connection.interface { try connection.setInterface(interface) }
        } catch {
            throw CurlError(exitCode: CurlExitCode.failedInitialization, message: error.message, form: .plain)
        }
        setPins(security.pinnedKeys)
        setTLS(security)
        connection.key = security.key
        if let password = security.password { connection.password = password }
        setAddresses(operation.connection)
        readCallerFiles()
    }

    /// Reads the caller's pipes and descriptors. Those that cannot be read are reported when a transfer needs them.
    private mutating func readCallerFiles() {
        if trust.needsCallerFiles { try? trust.readCallerFiles() }
        if connection.needsCallerFiles { try? connection.readCallerFiles() }
    }

    /// Reads all files here, because the daemon sees other ones; `false` if that was done before or one cannot be read.
    mutating func readAllFiles() -> Bool {
        guard !hasReadFiles, namesFiles else { return false }
        hasReadFiles = true
        do throws(Failure) {
            try trust.readCallerFiles(all: true)
            try connection.readCallerFiles(all: true)
            return true
        } catch {
            return false
        }
    }

    private mutating func setTrust(_ security: CurlSecurityOptions, _ environment: Environment) {
        trust.isInsecure = security.isInsecure
        trust.pinsOwnKey = true
        // Lists are part of the verification of the chain. The file has to be there nevertheless.
        lists = security.revocationLists
        trust.revocationLists = security.isInsecure ? nil : security.revocationLists
        trust.requiresStaple = security.requiresStatus
        guard !security.isInsecure else { return }
        trust.authorities = security.authoritiesFile
        var directories = security.authoritiesDirectory
        if trust.authorities == nil, directories == nil {
            trust.authorities = environment["CURL_CA_BUNDLE"]
            // curl's own variable replaces both of OpenSSL.
            if trust.authorities == nil {
                trust.authorities = environment["SSL_CERT_FILE"]
                directories = environment["SSL_CERT_DIR"]
            }
        }
        // As in OpenSSL, those that are missing or have no certificate add nothing.
        let named = directories?.split(separator: ":").map(String.init) ?? []
        trust.directories = Array(
            named.filter(CertificateFolder.hasCertificates).prefix(CurlSettings.maximumDirectories))
        trust.authoritiesText = trust.authorities.flatMap(CurlSettings.text)
    }

    /// The content of a short file of authorities; `nil` if the daemon is to read it. The daemon knows a text again
    /// without a thread that opens files.
    private static func text(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= CurlSettings.maximumTextBytes,
            let bytes = try? NamedPath.read(path, atMost: 2 * CurlSettings.maximumTextBytes)
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Takes the pins as curl does: those that no key can have never match, and a file that cannot be read neither.
    private mutating func setPins(_ text: String?) {
        guard let text, !text.isEmpty else { return }
        guard text.hasPrefix("sha256//") else {
            trust.pins = [access(text, R_OK) == 0 ? text : CurlSettings.pinOfNoKey]
            return
        }
        trust.pins = text.split(separator: ";sha256//").compactMap { part in
            let pin = part.hasPrefix("sha256//") ? String(part) : "sha256//\(part)"
            let hash = Array(pin.utf8.dropFirst(8)).withUnsafeBytes { try? Base64.decode($0) }
            return hash?.count == 32 ? pin : nil
        }
        if trust.pins.isEmpty { trust.pins = [CurlSettings.pinOfNoKey] }
    }

    /// A pin whose hash consists of zeros.
    private static let pinOfNoKey = "sha256//\(String(repeating: "A", count: 43))="

    private mutating func setTLS(_ security: CurlSecurityOptions) {
        // Without a minimum an old maximum is accepted, as in curl.
        let isOld = security.minimumTLS == nil && security.maximumTLS.map { $0 < 2 } ?? false
        connection.minimumVersion = isOld ? "1.0" : security.minimumTLS.map { "1.\($0)" }
        connection.maximumVersion = security.maximumTLS.map { "1.\($0)" }
        // As in curl, those of TLS 1.2 do not matter for newer versions.
        connection.ciphers = security.minimumTLS.map { $0 > 2 } ?? false ? nil : security.ciphers
        // Those of TLS 1.3 do not matter for older versions.
        connection.cipherSuites = security.maximumTLS.map { $0 < 3 } ?? false ? nil : security.suites
    }

    private mutating func setAddresses(_ options: CurlConnectionOptions) {
        // Of several entries the last one counts; a plus is for entries that expire, and a minus removes one.
        for entry in options.resolve {
            if entry.hasPrefix("-") {
                connection.resolve.removeAll { $0.hasPrefix(entry.dropFirst() + ":") }
            } else {
                let address = entry.hasPrefix("+") ? String(entry.dropFirst()) : entry
                if badEntry == nil, CurlSettings.fields(address) < 3 { badEntry = entry }
                connection.resolve.append(address)
            }
        }
        // As in curl, an entry that names no second host has no effect, and the second port may be missing.
        connection.connectTo = options.connectTo.compactMap { entry in
            let count = CurlSettings.fields(entry)
            return count < 3 ? nil : count == 3 ? entry + ":" : entry
        }
        connection.family = options.family.map { $0 == 6 ? "ipv6" : "ipv4" }
        connection.unixSocket = options.unixSocket
    }

    /// How many fields colons separate, outside of the brackets of addresses.
    private static func fields(_ entry: String) -> Int {
        var count = 1
        var isInBrackets = false
        for byte in entry.utf8 {
            switch byte {
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ":") where !isInBrackets: count += 1
            default: break
            }
        }
        return count
    }

    /// Fails for an entry of `--resolve` that has no host, port and address.
    func checkAddresses() throws(CurlError) {
        guard let badEntry else { return }
        throw CurlError(
            exitCode: CurlExitCode.badOptionSyntax, message: "Couldn't parse CURLOPT_RESOLVE entry '\(badEntry)'")
    }

    /// The file or the folder of authorities.
    private var authoritiesPath: String? { trust.authorities ?? trust.directories.first }

    /// Whether they name files that the daemon reads for connections over TLS.
    var namesFiles: Bool {
        trust.authorities != nil || !trust.directories.isEmpty || trust.revocationLists != nil
            || trust.pins.contains { !$0.hasPrefix("sha256//") } || connection.certificate != nil
    }

    /// Finds versions that exclude each other and files that cannot be read, in curl's order and words: the daemon
    /// would refuse them in its own.
    func check() throws(CurlError) {
        if let minimum = connection.minimumVersion, let maximum = connection.maximumVersion, minimum > maximum {
            throw CurlError(
                exitCode: CurlExitCode.tlsError, message: "CURL_SSLVERSION_MAX incompatible with CURL_SSLVERSION")
        }
        if let path = connection.certificate, !CurlSettings.isReadable(path) {
            throw CurlError(
                exitCode: CurlExitCode.clientCertificate,
                message: "could not load PEM client certificate from \(path), OpenSSL error error:80000002:"
                    + "system library::No such file or directory, (no key found, wrong pass phrase, or wrong file "
                    + "format?)"
            )
        }
        if let path = connection.key, access(path, R_OK) != 0 {
            throw CurlError(
                exitCode: CurlExitCode.clientCertificate,
                message: "unable to set private key file: '\(path)' type PEM")
        }
        if trust.authoritiesText == nil, let path = trust.authorities, !CurlSettings.isReadable(path) {
            throw CurlError(
                exitCode: CurlExitCode.badAuthorities, message: "error setting certificate file: \(path)")
        }
        if let lists, access(lists, R_OK) != 0 { throw CurlSettings.badList(lists) }
    }

    /// The settings that curl reads before the one that an error is about: ciphers, then the client certificate, then
    /// authorities, then lists of revoked certificates. `nil` if there are none.
    func those(before error: CurlError) -> CurlSettings? {
        var others = self
        switch error.exitCode {
        case CurlExitCode.clientCertificate: (others.trust, others.connection.certificate) = (TrustArguments(), nil)
        case CurlExitCode.badAuthorities: others.trust = TrustArguments()
        case CurlExitCode.badRevocationList: others.trust.revocationLists = nil
        default: return nil
        }
        let hasSome = connection.ciphers != nil || connection.cipherSuites != nil || others.namesFiles
        return hasSome ? others : nil
    }

    /// Whether a path can be read, and is no folder.
    private static func isReadable(_ path: String) -> Bool {
        var status = stat()
        return SystemPath.withBytes(path) { access($0, R_OK) == 0 && stat($0, &status) == 0 }
            && status.st_mode & S_IFMT != S_IFDIR
    }

    private static func badList(_ path: String) -> CurlError {
        CurlError(exitCode: CurlExitCode.badRevocationList, message: "error loading CRL file: \(path)")
    }

    /// Writes the parameters of connections to a URL. Trust and certificates are for TLS alone: the daemon would read
    /// their files.
    func write(for url: CurlURL, to writer: inout JSONWriter) {
        guard url.scheme == "https" else { return connection.writeAddresses(to: &writer) }
        trust.write(to: &writer)
        connection.write(to: &writer)
    }

    /// The failure of a transfer whose parameters the daemon has refused, in curl's words; `nil` for another one.
    func failure(ofRefusal message: String) -> CurlError? {
        if message.contains("params.trust.ca_"), let path = authoritiesPath {
            return CurlError(
                exitCode: CurlExitCode.badAuthorities, message: "error setting certificate file: \(path)")
        }
        if message.contains(".crl_"), let path = trust.revocationLists { return CurlSettings.badList(path) }
        if message.contains(".public_keys.") {
            return CurlError(
                exitCode: CurlExitCode.unpinnedKey, message: "SSL: public key does not match pinned public key")
        }
        if message.contains("params.tls.ciphers"), let ciphers = connection.ciphers {
            return CurlError(
                exitCode: CurlExitCode.badCipher, message: "failed setting cipher list: \(ciphers)")
        }
        if message.contains("params.tls.tls13_ciphers"), let suites = connection.cipherSuites {
            return CurlError(
                exitCode: CurlExitCode.badCipher, message: "failed setting TLS 1.3 cipher suite: \(suites)")
        }
        return nil
    }
}
