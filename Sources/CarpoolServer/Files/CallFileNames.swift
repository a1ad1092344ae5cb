internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

/// The files that a call names by path or passes as descriptors, collected first, so that they can be opened and
/// inspected off the loop. A call without files costs three look-ups and no memory.
struct CallFileNames: Sendable {
    typealias Path = NamedPath

    /// Files whose bytes are sent.
    private(set) var paths: [Path] = []
    /// Certificates and revocation lists.
    private(set) var trust: [TrustMaterialNames] = []
    /// The parts of a client certificate.
    private(set) var clientCertificate: ClientCertificateNames?
    /// Passwords.
    private(set) var passwords: [PasswordNames] = []
    /// The places of descriptors, as the caller counts them.
    private(set) var descriptors: [Int] = []
    /// The place of the descriptor to which the response's body is written.
    private(set) var output: Int?
    /// Where a download goes, and what it resumes.
    private(set) var destination: DestinationNames?

    /// Whether the call has no files.
    var isEmpty: Bool {
        paths.isEmpty && trust.isEmpty && descriptors.isEmpty && destination == nil && clientCertificate == nil
            && passwords.isEmpty && output == nil
    }

    /// Whether it has files that are opened by their paths.
    var namesPaths: Bool {
        !paths.isEmpty || trust.contains { $0.namesPaths } || destination != nil
            || clientCertificate?.paths.isEmpty == false || passwords.contains { $0.path != nil }
    }

    /// Whether a thread of the worker has to read any of them, apart from descriptors.
    var needWorker: Bool {
        !paths.isEmpty || !trust.isEmpty || destination != nil || clientCertificate != nil || !passwords.isEmpty
    }

    /// Looks through the parameters of a request that have passed their schema.
    init(_ params: Params) {
        if let body = params[.body] { addBody(body) }
        if let trust = params[.trust] { self.trust = TrustMaterialNames.all(in: trust, at: "params.trust") }
        if let certificate = params[.clientCertificate] { addCertificate(certificate, at: "params.client_certificate") }
        if let descriptor = params[.addresses]?["unix_socket"]?["fd"]?.int { descriptors.append(descriptor) }
        if params[.credential] != nil || params[.credentials] != nil || params[.proxy] != nil {
            add(
                PasswordNames.all(
                    credential: params[.credential], credentials: params[.credentials], proxy: params[.proxy],
                    at: "params"))
        }
        output = params[.responseBody]?["fd"]?.int
        if params[.kind] == "download" { destination = DestinationNames(params) }
    }

    /// Looks through the configuration of a session.
    /// - Parameter path: the place of the configuration.
    init(configuration: JSON?, path: String = "params.configuration") {
        if let trust = configuration.flatMap({ ParameterObject($0)[.trust] }) {
            self.trust = TrustMaterialNames.all(in: trust, at: "\(path).trust")
        }
        if let certificate = configuration.flatMap({ ParameterObject($0)[.clientCertificate] }) {
            addCertificate(certificate, at: "\(path).client_certificate")
        }
        if let object = configuration.map({ ParameterObject($0) }) {
            add(
                PasswordNames.all(
                    credential: nil, credentials: object[.sessionCredentials], proxy: object[.proxy], at: path))
        }
    }

    /// Makes the names of a call that has only certificates and revocation lists.
    init(trust: [TrustMaterialNames]) { self.trust = trust }

    /// Makes the names of a call that has only a descriptor to write to.
    init(output: Int) { self.output = output }

    /// Makes the names of a call that has only a password.
    init(password: JSON?, at place: String) { add([PasswordNames(password, at: place)].compactMap(\.self)) }

    /// Those of them that can be read: paths only if they are absolute and the client may name any.
    func readable(byPath mayName: Bool) -> CallFileNames {
        var names = self
        names.paths.removeAll { !mayName || !AbsolutePath.isOne($0.path) }
        names.trust.removeAll { material in
            material.namesPaths && !(mayName && material.paths.allSatisfy { AbsolutePath.isOne($0.path) })
        }
        names.passwords.removeAll { !$0.canBeRead(byPath: mayName) }
        if !mayName { names.destination = nil }
        if names.clientCertificate?.canBeRead(byPath: mayName) == false { names.clientCertificate = nil }
        return names
    }

    /// Removes authorities that were read for another call: they need no thread.
    mutating func takeAuthorities(from known: KnownTrustMaterial, into found: inout CallFiles.Found) {
        trust.removeAll { names in
            guard let authorities = known.authorities(names) else { return false }
            found.trust[names.place] = .success(authorities)
            return true
        }
    }

    private mutating func add(_ names: [PasswordNames]) {
        passwords += names
        descriptors += names.compactMap(\.descriptor)
    }

    private mutating func addCertificate(_ json: JSON, at place: String) {
        clientCertificate = ClientCertificateNames(json, at: place)
        descriptors += clientCertificate?.descriptors ?? []
    }

    private mutating func addBody(_ body: JSON) {
        if let path = body["file"]?.string { paths.append(Path(place: "params.body.file", path: path)) }
        if let descriptor = body["fd"]?.int { descriptors.append(descriptor) }
        guard let parts = body["multipart"] ?? body["pieces"] else { return }
        for index in 0..<parts.count {
            if let descriptor = parts[index: index]?["fd"]?.int { descriptors.append(descriptor) }
        }
    }
}
