internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// The options that say which servers are trusted.
struct TrustArguments: Equatable {
    /// `nil` for the system's authorities.
    var authorities: String?
    /// A directory of authorities.
    var directory: String?
    /// Certificates are not verified.
    var isInsecure = false
    /// Pins of public keys, or the paths of files of certificates that have them.
    var pins: [String] = []
    var revocationLists: String?
    var requiresStaple = false

    mutating func setAuthorities(_ path: String) throws(UsageError) {
        guard !isInsecure else { throw TrustArguments.exclusion }
        authorities = path
    }

    mutating func setInsecure() throws(UsageError) {
        guard authorities == nil else { throw TrustArguments.exclusion }
        isInsecure = true
    }

    private static var exclusion: UsageError { UsageError("--cacert and --insecure exclude each other") }

    /// Writes the parameter `trust`.
    func write(to writer: inout JSONWriter) {
        let evaluates = !pins.isEmpty || revocationLists != nil || requiresStaple
        guard isInsecure || evaluates || authorities != nil || directory != nil else { return }
        writer.key("trust")
        writer.beginObject()
        if isInsecure, !evaluates { writer.member("verify", false) }
        writer.member("ca_file", authorities.map { SocketLocation.absolute($0) })
        if authorities == nil { writer.member("ca_path", directory.map { SocketLocation.absolute($0) }) }
        if evaluates { writeEvaluators(to: &writer) }
        writer.endObject()
    }

    /// Writes one evaluator for every host, which requires all of the options.
    private func writeEvaluators(to writer: inout JSONWriter) {
        writer.key("evaluators")
        writer.beginObject()
        writer.key("*")
        writer.beginObject()
        writer.key("composite")
        writer.beginArray()
        if let revocationLists {
            writeEvaluator("revocation", to: &writer) { writer in
                writer.member("crl_file", SocketLocation.absolute(revocationLists))
                writer.member("require_positive_response", true)
                writer.member("staple", static: "ignore")
            }
        }
        if requiresStaple {
            writeEvaluator("revocation", to: &writer) { $0.member("staple", static: "require") }
        }
        if !pins.isEmpty {
            let keys = pins.filter { $0.hasPrefix("sha256//") }
            let files = pins.filter { !$0.hasPrefix("sha256//") }
            writeEvaluator("public_keys", to: &writer) { writer in
                writer.member("pins", keys)
                if !files.isEmpty { writer.member("files", files.map { SocketLocation.absolute($0) }) }
            }
        }
        writer.endArray()
        writer.endObject()
        writer.endObject()
    }

    private func writeEvaluator(
        _ name: StaticString, to writer: inout JSONWriter, _ members: (inout JSONWriter) -> Void
    ) {
        writer.beginObject()
        writer.key(name)
        writer.beginObject()
        members(&writer)
        if isInsecure {
            writer.member("perform_default_validation", false)
            writer.member("validate_host", false)
        }
        writer.endObject()
        writer.endObject()
    }
}

extension Option where Arguments == RequestArguments {
    /// The options of trust.
    static var trust: [Option] {
        [
            Option("--cacert", takes: "FILE", "trust the certificates in FILE, and no others") {
                (arguments, path) throws(UsageError) in try arguments.trust.setAuthorities(path)
            },
            Option("--capath", takes: "DIR", "trust the certificates in the files of DIR, and no others") {
                $0.trust.directory = $1
            },
            Option("--insecure", short: "k", "do not verify the server's certificate") {
                (arguments, _) throws(UsageError) in try arguments.trust.setInsecure()
            },
            Option(
                "--pinnedpubkey", takes: "PINS",
                "require one of these keys: sha256//BASE64, several with ';', or a file"
            ) { $0.trust.pins += $1.split(separator: ";").map(String.init) },
            Option("--crlfile", takes: "FILE", "refuse certificates that these lists revoke or do not cover") {
                $0.trust.revocationLists = $1
            },
            Option("--cert-status", "require an OCSP answer with the certificate") {
                $0.trust.requiresStaple = true
            },
        ]
    }
}
