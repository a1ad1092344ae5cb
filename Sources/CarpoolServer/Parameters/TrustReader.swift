internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Reads `trust`, which has passed its schema. The certificates and revocation lists were read before.
struct TrustReader {
    let callbacks: any CallbackFactory
    let files: CallFiles
    /// Checks a path that the caller names.
    let checkPath: (_ path: String, _ place: String) throws(RPCError) -> Void

    /// The authorities, and the evaluators if there are any.
    func trust(_ json: JSON, path: String) throws(RPCError) -> (trust: ServerTrust, manager: ServerTrustManager?) {
        if json.string != nil { return (.system, nil) }
        if json["verify"]?.bool == false {
            try checkAlone(json, path: path)
            return (.none, nil)
        }
        try checkPaths(json, path: path)
        let trust = ServerTrust(try authorities(json, path: path))
        guard let evaluators = json["evaluators"] else {
            guard json["all_hosts_must_be_evaluated"] == nil else {
                throw .invalidParams(
                    path: "\(path).all_hosts_must_be_evaluated", message: "there are no evaluators",
                    expected: "evaluators beside it")
            }
            return (trust, nil)
        }
        let manager = ServerTrustManager(
            evaluators: try self.evaluators(evaluators, path: "\(path).evaluators"),
            allHostsMustBeEvaluated: json["all_hosts_must_be_evaluated"]?.bool ?? true)
        return (trust, manager)
    }

    private static let others: [StaticString] = [
        "ca_file", "ca_path", "ca_pem", "ca_in_addition", "environment", "evaluators",
    ]

    /// The trust of the session would take the place of the request's evaluators.
    static func checkEnvironment(_ json: JSON, path: String) throws(RPCError) {
        guard json["environment"] != nil, json["evaluators"] != nil else { return }
        throw .invalidParams(
            path: path, message: "has both environment and evaluators, which exclude each other",
            expected: "no environment, so that the trust of the session does not take precedence")
    }

    private func checkAlone(_ json: JSON, path: String) throws(RPCError) {
        guard let other = TrustReader.others.first(where: { json[$0] != nil }) else { return }
        throw .invalidParams(
            path: path, message: "has both \(other) and verify, which exclude each other", expected: "one of them")
    }

    /// Checks the paths before what was read at them, so that the error is about the path.
    private func checkPaths(_ json: JSON, path: String) throws(RPCError) {
        for names in TrustMaterialNames.all(in: json, at: path) {
            for (place, path) in names.paths { try checkPath(path, place) }
        }
    }

    private func authorities(_ json: JSON, path: String) throws(RPCError) -> ServerTrust.Authorities {
        let given = (["ca_file", "ca_path", "ca_pem"] as [StaticString]).filter { json[$0] != nil }
        try checkOne(of: "ca_file", "ca_pem", json, path)
        let isAddition = json["ca_in_addition"]?.bool ?? false
        let variable = try variable(json, path: "\(path).environment")
        guard !given.isEmpty else {
            guard !isAddition, variable == nil else {
                let member = isAddition ? "ca_in_addition" : "environment"
                throw .invalidParams(
                    path: "\(path).\(member)", message: "there are no authorities beside it",
                    expected: "ca_file, ca_path or ca_pem")
            }
            return .system
        }
        let read: TrustMaterial
        do throws(RPCError) { read = try material(path) } catch {
            guard let variable else { throw error }
            var error = error
            error.hint =
                "The variable \(variable) of the program's environment names the authorities: correct it or unset it."
            throw error
        }
        guard case .authorities(let authorities) = read else { throw .notOpened(path) }
        return isAddition ? .systemAnd(authorities) : .only(authorities)
    }

    /// The variable of the environment that names the authorities.
    private func variable(_ json: JSON, path: String) throws(RPCError) -> String? {
        guard let name = json["environment"]?.string else { return nil }
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
            default: false
            }
        }
        guard isName, !name.isEmpty else {
            throw .invalidParams(
                path: path, message: "not the name of a variable", expected: "letters, digits and underscores")
        }
        return name
    }

    private func material(_ place: String) throws(RPCError) -> TrustMaterial {
        switch files.trust[place] {
        case .success(let material)?: return material
        case .failure(let error)?: throw error
        case nil: throw .notOpened(place)
        }
    }

    // MARK: Evaluators

    private func evaluators(
        _ json: JSON, path: String
    ) throws(RPCError) -> [HostPattern: ServerTrustEvaluator] {
        var evaluators: [HostPattern: ServerTrustEvaluator] = [:]
        try json.forEachMember { (name: String, value: JSON) throws(RPCError) in
            let place = "\(path).\(name)"
            let pattern: HostPattern
            do throws(HostPattern.Refusal) { pattern = try HostPattern(name) } catch {
                throw .invalidParams(
                    path: place, message: error.message, expected: "a host, *.NAME or *, with or without :PORT")
            }
            guard evaluators[pattern] == nil else {
                throw .invalidParams(path: place, message: "\(pattern) has two evaluators", expected: "one")
            }
            evaluators[pattern] = try evaluator(value, path: place)
        }
        return evaluators
    }

    private func evaluator(_ json: JSON, path: String) throws(RPCError) -> ServerTrustEvaluator {
        if let name = json.string { return TrustReader.standard(name) }
        if let parts = json["composite"] {
            var evaluators: [ServerTrustEvaluator] = []
            for index in 0..<parts.count {
                guard let part = parts[index: index] else { continue }
                evaluators.append(try evaluator(part, path: "\(path).composite[\(index)]"))
            }
            return .composite(evaluators)
        }
        if let options = json["default"] { return .standard(validatesHost: options["validate_host"]?.bool ?? true) }
        if let options = json["revocation"] { return .revocation(try revocation(options, path: "\(path).revocation")) }
        if json["pinned_certificates"] != nil {
            guard case .pins(let pins) = try material("\(path).pinned_certificates") else { throw .notOpened(path) }
            return .pinnedCertificates(pins)
        }
        if let options = json["public_keys"] { return .publicKeys(try keys(options, path: "\(path).public_keys")) }
        let callback = json["callback"] ?? json
        return try callbacks.trustEvaluator(callback, path: "\(path).callback")
    }

    private static func standard(_ name: String) -> ServerTrustEvaluator {
        switch name {
        case "disabled": .disabled
        case "revocation": .revocation(RevocationCheck())
        default: .standard(validatesHost: true)
        }
    }

    private func revocation(_ json: JSON, path: String) throws(RPCError) -> RevocationCheck {
        try checkOne(of: "crl_file", "crl_pem", json, path)
        var check = RevocationCheck()
        if json["crl_file"] != nil || json["crl_pem"] != nil {
            guard case .lists(let lists) = try material(path) else { throw .notOpened(path) }
            check.lists = lists
        }
        if let staple = json["staple"]?.string.flatMap(RevocationCheck.Staple.init(rawValue:)) { check.staple = staple }
        check.requiresPositiveResponse = json["require_positive_response"]?.bool ?? false
        check.performsDefaultValidation = json["perform_default_validation"]?.bool ?? true
        check.validatesHost = json["validate_host"]?.bool ?? true
        return check
    }

    private func checkOne(
        of first: StaticString, _ second: StaticString, _ json: JSON, _ path: String
    ) throws(RPCError) {
        guard json[first] != nil, json[second] != nil else { return }
        throw .invalidParams(
            path: path, message: "has both \(first) and \(second), which exclude each other", expected: "one of them")
    }

    private func keys(_ json: JSON, path: String) throws(RPCError) -> PublicKeyPins {
        var pins: [PublicKeyPin] = []
        let texts = json["pins"]
        for index in 0..<(texts?.count ?? 0) {
            do throws(PublicKeyPin.Failure) {
                pins.append(try PublicKeyPin(texts?[index: index]?.string ?? ""))
            } catch {
                throw .invalidParams(
                    path: "\(path).pins[\(index)]", message: error.message,
                    expected: "sha256// and the 44 characters of a SHA-256 in base64; carpool pins HOST prints it")
            }
        }
        if json["files"]?.count ?? 0 > 0 || json["pem"] != nil {
            guard case .keys(let read) = try material(path) else { throw .notOpened(path) }
            pins += read
        }
        return PublicKeyPins(
            pins, performsDefaultValidation: json["perform_default_validation"]?.bool ?? true,
            validatesHost: json["validate_host"]?.bool ?? true,
            excludesAuthorities: json["own_key"]?.bool ?? false)
    }
}

extension PublicKeyPin.Failure {
    fileprivate var message: String {
        switch self {
        case .noPrefix: "does not begin with sha256//"
        case .wrongLength(let expected): "does not have \(expected) characters after sha256//"
        case .notBase64: "not base64"
        }
    }
}
