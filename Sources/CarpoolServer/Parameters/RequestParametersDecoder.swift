internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// Decodes the parameters of a request, or the configuration of a session, from a call's. Checks what the schema cannot
/// check: every refusal names its parameter and comes before anything is done.
struct RequestParametersDecoder {
    let client: any Caller
    /// The daemon's user, whose files may be read.
    let owner: UInt32
    /// The files that the call names or passes, opened before.
    let files: CallFiles
    /// Opens and reads files for the client while a request runs.
    let worker: WorkerAccess
    /// Makes the callback handlers.
    let callbacks: any CallbackFactory
    /// For sessions that name none of their own.
    let languages: [String]
    /// Keeps the time of refreshes.
    let scheduler: EventLoop
    /// Knows the network, for interceptors that wait for it.
    let connectivity: any Connectivity
    /// Has the tokens that interceptors obtain.
    let tokens: any TokenProvider
    /// Remembers the partial files of downloads.
    var partials: PartialFileIndex?
    /// Writes the files of downloads.
    let fileStore: FileStore

    func parameters(_ params: Params, _ parts: ParsedParts? = nil) throws(RPCError) -> RequestParameters {
        var parameters = RequestParameters(url: params[.url] ?? "")
        try read(params, parts, into: &parameters)
        return parameters
    }

    /// Reads into parameters in place: to return them from here would cost a copy.
    private func read(
        _ params: Params, _ parts: ParsedParts?, into parameters: inout RequestParameters
    ) throws(RPCError) {
        parameters.kind = RequestParametersDecoder.kind(params)
        if parameters.kind == .upload { parameters.method = .post }
        if let method = params[.method] {
            parameters.method = try RequestParametersDecoder.method(method, path: "params.method")
        }
        parameters.hasDefaultFields = params[.defaultHeaders] ?? true
        if let headers = params[.headers] {
            parameters.fields = try RequestParametersDecoder.fields(
                headers, path: "params.headers", isComplete: !parameters.hasDefaultFields)
        }
        if let body = params[.body] { try readBody(body, parts, into: &parameters) }
        parameters.expectsContinue = params[.expectContinue] ?? false
        if parameters.hasDefaultFields { parameters.userAgent = client.userAgent }
        try readIdentity(params, into: &parameters)
        try readValues(params, parts, into: &parameters)
        if let interceptor = params[.interceptor] {
            parameters.interceptor = try self.interceptor(interceptor, path: "params.interceptor")
        }
        try readValidation(params, path: "params", into: &parameters.options)
        parameters.serializers = try serializers(params[.serialize])
        try readStream(params, into: &parameters)
        try readRedirect(params, path: "params", into: &parameters.options)
        try readConnection(params, path: "params", isOfSession: false, into: &parameters.options)
        parameters.options.readScalars(params)
        parameters.holdsForHeaders = params[.holdForHeaders] ?? false
        readScheduling(params, into: &parameters)
        parameters.hashesBody = params[.sha256] ?? false
        parameters.needsCertificates = params[.certificates] ?? false
        parameters.memoryLimitBytes = params[.responseBody]?.string == "file" ? 0 : client.inlineBodyBytes
        try readKind(params, into: &parameters)
        try readOutput(params, into: &parameters)
    }

    /// Credentials and cookies: who the origin takes the request for.
    private func readIdentity(_ params: Params, into parameters: inout RequestParameters) throws(RPCError) {
        if let credential = params[.credential] {
            parameters.credential = try credentialReader.credential({ credential[$0] }, path: "params.credential")
        }
        if let credentials = params[.credentials] {
            parameters.credentials = try credentialReader.list(credentials, path: "params.credentials")
        }
        if let callback = params[.authenticate]?["callback"] {
            parameters.challengeDecider = try callbacks.challengeDecider(
                callback, path: "params.authenticate.callback")
        }
        if let servers = params[.bodyAfterChallenge] {
            for index in 0..<servers.count {
                parameters.challengersBeforeBody.insert(
                    servers[index: index]?.isString("proxy") == true ? .proxy : .origin)
            }
        }
        if let cookies = params[.cookies] {
            parameters.cookies = try CookieReader.request(cookies, url: parameters.url, path: "params.cookies")
        }
        if let cache = params[.cache] {
            parameters.caching = try CacheReader(callbacks: callbacks).request(cache, path: "params.cache")
        }
    }

    /// `parameters` and `encoding`.
    private func readValues(
        _ params: Params, _ parts: ParsedParts?, into parameters: inout RequestParameters
    ) throws(RPCError) {
        if let values = params[.parameters] {
            guard params[.body] == nil else {
                throw .invalidParams(
                    path: "params.parameters", message: "there is a body already",
                    expected: "either parameters or a body")
            }
            if let parts {
                parameters.encodedParameters = try parts.parameters.get()
            } else {
                parameters.parameters = try EncodingReader().parameters(values)
            }
        }
        if let encoding = params[.encoding] { parameters.encoding = try EncodingReader().encoding(encoding) }
    }

    private var credentialReader: CredentialReader {
        CredentialReader(passwords: PasswordReader(files: files, client: client))
    }

    // MARK: Settings that requests and sessions have in common; `path` is that of the object that holds them

    private func readConnection(
        _ source: some ParameterSource, path: String, isOfSession: Bool, into options: inout TransferOptions
    ) throws(RPCError) {
        if let trust = source[.trust] { try readTrust(trust, path: "\(path).trust", url: source[.url], into: &options) }
        if let tls = source[.tls] { options.tls.set(try ConnectionReader.tls(tls, path: "\(path).tls")) }
        if let certificate = source[.clientCertificate] {
            options.certificate.set(try clientCertificate(certificate, path: "\(path).client_certificate"))
        }
        if let proxy = source[.proxy] {
            let settings = try ProxyReader(passwords: PasswordReader(files: files, client: client))
                .settings(proxy, path: "\(path).proxy")
            // An environment without a proxy does not turn off that of the session.
            if settings != nil || proxy["environment"]?.bool != true { options.proxy.set(.some(settings)) }
        }
        if let addresses = source[.addresses] {
            let socket = try unixSocket(addresses, path: "\(path).addresses", mayBePassed: !isOfSession)
            options.addresses.set(
                .some(try ConnectionReader.addresses(addresses, path: "\(path).addresses", socket: socket)))
        }
    }

    /// Authorities of the program's environment that are those of the system, or that cannot be read for a URL without
    /// TLS, which needs them only after a redirect, are left out.
    private func readTrust(
        _ json: JSON, path: String, url: String?, into options: inout TransferOptions
    ) throws(RPCError) {
        try TrustReader.checkEnvironment(json, path: path)
        options.isTrustOfEnvironment = json["environment"] != nil
        guard !TrustMaterialNames.areOfSystem(json) else { return }
        do throws(RPCError) {
            let (trust, manager) = try self.trust(json, path: path)
            options.trust.set(trust)
            options.serverTrustManager.set(.some(manager))
        } catch {
            guard options.isTrustOfEnvironment, let url, !url.prefix(6).lowercased().hasPrefix("https:") else {
                throw error
            }
        }
    }

    private func readValidation(
        _ source: some ParameterSource, path: String, into options: inout TransferOptions
    ) throws(RPCError) {
        guard let validate = source[.validate] else { return }
        let reader = ValidationReader(callbacks: callbacks)
        options.validators.set(try reader.validators(validate, path: "\(path).validate"))
    }

    private func readRedirect(
        _ source: some ParameterSource, path: String, into options: inout TransferOptions
    ) throws(RPCError) {
        guard let redirect = source[.redirect] else { return }
        let reader = RedirectReader(callbacks: callbacks)
        options.redirect.set(try reader.redirect(redirect, path: "\(path).redirect"))
    }

    // MARK: Settings of a request

    /// When the request is sent among others.
    private func readScheduling(_ params: Params, into parameters: inout RequestParameters) {
        parameters.queueTimeoutMilliseconds = params[.queueTimeout]
        if let priority = params[.priority].flatMap(TransferPriority.init(rawValue:)) {
            parameters.priority = priority
        }
        parameters.share = client.identity.share
        parameters.process = client.profile.pid
    }

    private func readKind(_ params: Params, into parameters: inout RequestParameters) throws(RPCError) {
        guard parameters.kind == .download else {
            try refuseUnlessDownload(.destination, params)
            try refuseUnlessDownload(.resumeData, params)
            return
        }
        let reader = DestinationReader(
            client: client, callbacks: callbacks, index: partials, store: fileStore, share: worker.share,
            files: files)
        parameters.download = try reader.download(params)
    }

    /// The descriptor for the response's body.
    private func readOutput(_ params: Params, into parameters: inout RequestParameters) throws(RPCError) {
        guard let output = params[.responseBody], output["fd"] != nil else { return }
        func refuse(_ name: String, _ message: String, _ expected: String) -> RPCError {
            .invalidParams(path: "params.\(name)", message: message, expected: expected)
        }
        let other = "or response_body \"auto\""
        if params[.destination] != nil {
            throw refuse(
                "destination", "the body goes to the descriptor of response_body",
                "either destination or response_body with fd")
        }
        if params[.serialize] != nil {
            throw refuse(
                "serialize", "the body goes to the descriptor of response_body, and is not kept",
                "no serialize, \(other)")
        }
        guard parameters.kind == .data || parameters.kind == .upload else {
            throw refuse(
                "response_body.fd", "the body of a \(parameters.kind.rawValue) goes elsewhere",
                "kind \"data\", \(other)")
        }
        if params["key"] != nil {
            throw refuse(
                "key", "the body is written once, and a call that is repeated with the key gets none",
                "no key, \(other)")
        }
        let validators = params[.validate]
        for index in 0..<(validators?.count ?? 0) where validators?[index: index]?["callback"] != nil {
            throw refuse(
                "validate", "a callback validates the whole body, which is written as it arrives",
                "validators of the status and the content type, \(other)")
        }
        parameters.output = try self.output(output)
    }

    /// Refuses a parameter of downloads.
    private func refuseUnlessDownload(_ parameter: AnyParameter, _ params: Params) throws(RPCError) {
        guard params[parameter.name] != nil else { return }
        throw .invalidParams(
            path: "params.\(parameter.name)", message: "only a download has one", expected: "kind \"download\"")
    }

    private func readStream(_ params: Params, into parameters: inout RequestParameters) throws(RPCError) {
        guard parameters.kind == .stream else { return }
        parameters.cancelsOnStreamError = params[.cancelOnStreamError] ?? false
        guard params[.serialize] == nil else {
            throw .invalidParams(
                path: "params.serialize", message: "the body of a stream is not kept",
                expected: "a serializer for each reader: see request.read and request.attach")
        }
        guard params[.sha256] != true else {
            throw .invalidParams(
                path: "params.sha256", message: "the body of a stream is not kept", expected: "false, or another kind")
        }
    }

    /// Sets the content type of a JSON body, unless the caller has set one.
    static func addJSONContentType(to parameters: inout RequestParameters) {
        guard !parameters.fields.contains(where: { $0.hasName("content-type") }),
            let field = try? HTTPField(name: "Content-Type", value: "application/json")
        else { return }
        parameters.fields.append(field)
    }

    // MARK: Parts that other readers know

    /// The serializers of the response's body.
    func serializers(_ json: JSON?) throws(RPCError) -> [any ResponseSerializer] {
        guard let json else { return [] }
        let reader = SerializerReader(callbacks: callbacks, maximumTextBytes: client.recordBytes)
        return try reader.serializers(json, path: "params.serialize").serializers
    }

    private func interceptor(_ json: JSON, path: String) throws(RPCError) -> Interceptor? {
        let reader = InterceptorReader(
            callbacks: callbacks, scheduler: scheduler, connectivity: connectivity, tokens: tokens,
            uid: client.identity.uid)
        return try reader.interceptor(json, path: path)
    }

    /// Labels, as JSON; their names have the same maximum length as their values.
    func tags(_ json: JSON?) throws(RPCError) -> [UInt8]? {
        guard let json else { return nil }
        try json.forEachMember { (name: String, _: JSON) throws(RPCError) in
            guard name.utf8.count > RequestParametersDecoder.tagNameBytes else { return }
            throw .invalidParams(
                path: "params.tags", message: "a name has \(name.utf8.count) bytes",
                expected: "names of at most \(RequestParametersDecoder.tagNameBytes) bytes")
        }
        var writer = JSONWriter()
        writer.value(json)
        return writer.bytes
    }

    private static let tagNameBytes = 128

    /// The configuration of a session.
    /// - Parameter path: its place, for refusals.
    func configuration(
        _ json: JSON?, path: String = "params.configuration"
    ) throws(RPCError) -> SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.languages = languages
        guard let json else { return configuration }
        let object = ParameterObject(json)
        if let headers = object[.sessionHeaders] {
            configuration.fields = try RequestParametersDecoder.fields(headers, path: "\(path).headers")
        }
        try readConnection(object, path: path, isOfSession: true, into: &configuration.options)
        try readRedirect(object, path: path, into: &configuration.options)
        if let interceptor = object[.interceptor] {
            configuration.interceptor = try self.interceptor(interceptor, path: "\(path).interceptor")
        }
        try readValidation(object, path: path, into: &configuration.options)
        if let credentials = object[.sessionCredentials] {
            configuration.credentials = try credentialReader.credentials(credentials, path: "\(path).credentials")
        }
        configuration.options.readScalars(object)
        configuration.startsRequestsImmediately = object[.start] != "manual"
        configuration.isEphemeral = object[.ephemeral] ?? false
        configuration.cookies = try object[.sessionCookies].map { json throws(RPCError) in
            try CookieReader.settings(json, isEphemeral: configuration.isEphemeral, path: "\(path).cookies")
        }
        if let cache = object[.sessionCache] {
            configuration.caching = try CacheReader(callbacks: callbacks).session(cache, path: "\(path).cache")
        }
        if let languages = object[.languages] {
            configuration.languages = try RequestParametersDecoder.languages(languages, path: "\(path).languages")
        }
        return configuration
    }

    /// Those of a session; anything else would leave it without the field, or forge another.
    private static func languages(_ json: JSON, path: String) throws(RPCError) -> [String] {
        var languages: [String] = []
        for index in 0..<json.count {
            let language = json[index: index]?.string ?? ""
            guard DefaultFields.isLanguage(language) else {
                throw .invalidParams(
                    path: "\(path)[\(index)]", message: "not a language: \(language.debugDescription)",
                    expected: "a language range of RFC 4647, such as en, de-AT or *")
            }
            languages.append(language)
        }
        return languages
    }

    static func method(_ text: String, path: String) throws(RPCError) -> HTTPMethod {
        switch text {
        case "GET": return .get
        case "POST": return .post
        case "HEAD": return .head
        default:
            guard let method = HTTPMethod(text) else {
                throw .invalidParams(
                    path: path, message: "not a request method: \(text.prefix(64).debugDescription)",
                    expected: "a token of RFC 9110 other than CONNECT, such as GET, POST or PROPFIND")
            }
            return method
        }
    }
}
