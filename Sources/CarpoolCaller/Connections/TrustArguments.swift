internal import CarpoolClient
package import CarpoolJSON
internal import CarpoolSystem

/// The options that say which servers are trusted.
package struct TrustArguments: Equatable {
    /// `nil` for the system's authorities.
    package var authorities: String?
    /// The content of that file, if the command has read it.
    package var authoritiesText: String?
    /// Directories of authorities.
    package var directories: [String] = []
    /// The variable that names the authorities, if no option does.
    package internal(set) var variable: String?
    /// Certificates are not verified.
    package var isInsecure = false
    /// Pins of public keys, or the paths of files of certificates that have them.
    package var pins: [String] = []
    /// Whether a pin is that of the server's own key alone.
    package var pinsOwnKey = false
    package var revocationLists: String?
    package var requiresStaple = false
    /// Every server is refused, with the keys that it presents.
    package var asksForKeys = false
    /// The content of files that the daemon cannot open (``CallerFile``).
    private var revocationText: String?
    private var pinnedText: String?

    package init() {}

    package mutating func setAuthorities(_ path: String) throws(UsageError) {
        authorities = path
        try checkExclusion()
    }

    package mutating func setDirectory(_ path: String) throws(UsageError) {
        directories = [path]
        try checkExclusion()
    }

    package mutating func setInsecure() throws(UsageError) {
        isInsecure = true
        try checkExclusion()
    }

    private func checkExclusion() throws(UsageError) {
        let given = [
            authorities == nil ? nil : "--cacert", directories.isEmpty ? nil : "--capath",
            isInsecure ? "--insecure" : nil,
        ].compactMap { $0 }
        guard given.count > 1 else { return }
        throw UsageError("\(given[0]) and \(given[1]) exclude each other")
    }

    /// Adds the value of `--pinnedpubkey`: pins and paths, separated by semicolons. None would be no check at all.
    package mutating func addPins(_ text: String) throws(UsageError) {
        let added = text.split(separator: ";").map(String.init)
        guard !added.isEmpty else { throw UsageError("--pinnedpubkey has no pin: '\(text)'") }
        for pin in added {
            // 44 characters are a SHA-256 in base64.
            if pin.hasPrefix("sha256/") && !pin.hasPrefix("sha256//") || pin.utf8.count == 44 && pin.hasSuffix("=") {
                throw UsageError("a pin begins with sha256// and two slashes, not '\(pin)'")
            }
            if pin.hasPrefix("sha256//"), pin.contains(where: \.isWhitespace) {
                throw UsageError("--pinnedpubkey takes several pins separated by ';', without blanks or line breaks")
            }
        }
        pins += added
    }

    /// The options that name files, and the files.
    package var files: [(option: String, path: String)] {
        var files: [(option: String, path: String)] = []
        if let authorities { files.append(("--cacert", authorities)) }
        files += directories.map { ("--capath", $0) }
        if let revocationLists { files.append(("--crlfile", revocationLists)) }
        return files + pins.filter { !$0.hasPrefix("sha256//") }.map { ("--pinnedpubkey", $0) }
    }

    /// Whether a file has to be read here.
    package var needsCallerFiles: Bool {
        CallerFile.isNeeded(for: authorities) || CallerFile.isNeeded(for: revocationLists)
            || pins.contains { !$0.hasPrefix("sha256//") && CallerFile.isNeeded(for: $0) }
    }

    /// Reads the files that the daemon cannot open, or all.
    package mutating func readCallerFiles(all isAll: Bool = false) throws(Failure) {
        func isNeeded(_ path: String) -> Bool { isAll || CallerFile.isNeeded(for: path) }
        func isFileNeeded(_ pin: String) -> Bool { !pin.hasPrefix("sha256//") && isNeeded(pin) }
        if let authorities, isNeeded(authorities) {
            authoritiesText = try CallerFile.text(authorities, of: "--cacert")
        }
        if let revocationLists, isNeeded(revocationLists) {
            revocationText = try CallerFile.text(revocationLists, of: "--crlfile")
        }
        for pin in pins where isFileNeeded(pin) {
            pinnedText = (pinnedText ?? "") + (try CallerFile.text(pin, of: "--pinnedpubkey"))
        }
        if pinnedText != nil { pins.removeAll(where: isFileNeeded) }
    }

    private var requiresKeys: Bool { !pins.isEmpty || pinnedText != nil || asksForKeys }

    /// Writes the parameter `trust`.
    package func write(to writer: inout JSONWriter) {
        let evaluates = requiresKeys || revocationLists != nil || requiresStaple
        guard isInsecure || evaluates || authorities != nil || !directories.isEmpty else { return }
        writer.key("trust")
        writer.beginObject()
        if isInsecure, !evaluates { writer.member("verify", false) }
        writer.member("ca_file", authoritiesText == nil ? authorities.map { SocketLocation.absolute($0) } : nil)
        writer.member("ca_pem", authoritiesText)
        switch directories.count {
        case 0: break
        case 1: writer.member("ca_path", SocketLocation.absolute(directories[0]))
        default: writer.member("ca_path", directories.map { SocketLocation.absolute($0) })
        }
        // Options of the command line take precedence over the session.
        if !evaluates { writer.member("environment", variable) }
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
                writer.member("crl_file", revocationText == nil ? SocketLocation.absolute(revocationLists) : nil)
                writer.member("crl_pem", revocationText)
                writer.member("require_positive_response", true)
                writer.member("staple", static: "ignore")
            }
        }
        if requiresStaple {
            writeEvaluator("revocation", to: &writer) { $0.member("staple", static: "require") }
        }
        if requiresKeys {
            let keys = pins.filter { $0.hasPrefix("sha256//") }
            let files = pins.filter { !$0.hasPrefix("sha256//") }
            writeEvaluator("public_keys", to: &writer) { writer in
                writer.member("pins", keys)
                if !files.isEmpty { writer.member("files", files.map { SocketLocation.absolute($0) }) }
                writer.member("pem", pinnedText)
                if pinsOwnKey { writer.member("own_key", true) }
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
