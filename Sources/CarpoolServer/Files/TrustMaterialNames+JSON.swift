internal import CarpoolHTTP
internal import CarpoolJSON

// Where the parameter `trust`, which has passed its schema, has certificates and revocation lists.
extension TrustMaterialNames {
    /// All of them. Those of evaluators have the evaluator's place.
    static func all(in trust: JSON, at place: String) -> [TrustMaterialNames] {
        // Without verification no file matters, and none is opened.
        guard trust["verify"]?.bool != false, !areOfSystem(trust) else { return [] }
        var names: [TrustMaterialNames] = []
        let authorities = sources(trust, place, files: ["ca_file"], directory: "ca_path", text: "ca_pem")
        if !authorities.isEmpty {
            names.append(TrustMaterialNames(place: place, sources: authorities, kind: .authorities))
        }
        trust["evaluators"]?.forEachMember { (pattern: String, evaluator: JSON) in
            add(evaluator, at: "\(place).evaluators.\(pattern)", to: &names)
        }
        return names
    }

    /// Whether the program's environment names the system's authorities. Its requests share the connections of those
    /// whose environment names none.
    static func areOfSystem(_ trust: JSON) -> Bool {
        trust["environment"] != nil && trust["ca_file"]?.string == TransportConfiguration.systemAuthoritiesPath
            && trust["evaluators"] == nil && trust["ca_path"] == nil && trust["ca_pem"] == nil
    }

    private static func add(_ evaluator: JSON, at place: String, to names: inout [TrustMaterialNames]) {
        if let parts = evaluator["composite"] {
            for index in 0..<parts.count {
                guard let part = parts[index: index] else { continue }
                add(part, at: "\(place).composite[\(index)]", to: &names)
            }
        } else if let revocation = evaluator["revocation"] {
            let place = "\(place).revocation"
            let lists = sources(revocation, place, files: ["crl_file"], text: "crl_pem")
            if !lists.isEmpty { names.append(TrustMaterialNames(place: place, sources: lists, kind: .lists)) }
        } else if let pins = evaluator["pinned_certificates"] {
            let place = "\(place).pinned_certificates"
            let kind = Kind.pins(
                acceptsSelfSigned: pins["accept_self_signed"]?.bool ?? false,
                performsDefaultValidation: pins["perform_default_validation"]?.bool ?? true,
                validatesHost: pins["validate_host"]?.bool ?? true)
            names.append(TrustMaterialNames(place: place, sources: sources(pins, place, text: "pem"), kind: kind))
        } else if let keys = evaluator["public_keys"] {
            let place = "\(place).public_keys"
            let certificates = sources(keys, place, text: "pem")
            if !certificates.isEmpty {
                names.append(TrustMaterialNames(place: place, sources: certificates, kind: .keys))
            }
        }
    }

    /// The sources under the members of an object: files, and `files`, a list of them; a directory, or a list of them;
    /// a text.
    private static func sources(
        _ json: JSON, _ place: String, files: [StaticString] = [], directory: StaticString? = nil, text: StaticString
    ) -> [Source] {
        var sources: [Source] = []
        for member in files {
            if let path = json[member]?.string {
                sources.append(Source(place: "\(place).\(member)", content: .file(path)))
            }
        }
        let list = json["files"]
        for index in 0..<(list?.count ?? 0) {
            guard let path = list?[index: index]?.string else { continue }
            sources.append(Source(place: "\(place).files[\(index)]", content: .file(path)))
        }
        if let directory, let path = json[directory]?.string {
            sources.append(Source(place: "\(place).\(directory)", content: .directory(path)))
        }
        let directories = directory.flatMap { json[$0] }
        for index in 0..<(directories?.count ?? 0) {
            guard let directory, let path = directories?[index: index]?.string else { continue }
            sources.append(Source(place: "\(place).\(directory)[\(index)]", content: .directory(path)))
        }
        if let bytes = json[text]?.withUTF8({ Array($0) }) {
            sources.append(Source(place: "\(place).\(text)", content: .text(bytes)))
        }
        return sources
    }
}
