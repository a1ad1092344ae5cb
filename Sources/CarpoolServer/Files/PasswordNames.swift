internal import CarpoolJSON

/// Where a call has a password that it names by a path or a descriptor.
struct PasswordNames: Sendable {
    /// The parameter with the password.
    let place: String
    let source: NamedContent

    /// A password that was read, or why it was not.
    typealias Reading = Result<[UInt8], NamedContent.Failure>

    /// The most bytes of a password, without the newline behind it.
    static let maximumBytes = 4_096

    /// Finds a password that is no text, in a parameter that has passed its schema.
    init?(_ json: JSON?, at place: @autoclosure () -> String) {
        guard let json, json.kind == .object else { return nil }
        // Most passwords are texts, whose place is not needed.
        let place = place()
        self.place = place
        if let path = json["file"]?.string {
            source = .file(.init(place: "\(place).file", path: path))
        } else if let descriptor = json["fd"]?.int {
            source = .descriptor(descriptor)
        } else {
            return nil
        }
    }

    /// The path; `nil` for a descriptor.
    var path: String? {
        if case .file(let name) = source { return name.path }
        return nil
    }

    /// Whether it may be read. Otherwise the parameter is refused.
    func canBeRead(byPath isAllowed: Bool) -> Bool { path.map { isAllowed && AbsolutePath.isOne($0) } ?? true }

    /// The place of the descriptor; `nil` for a path.
    var descriptor: Int? {
        if case .descriptor(let index) = source { return index }
        return nil
    }

    /// Reads the password, without the newline behind it. May block: for a thread of a worker.
    func read(_ passed: [Int: PassedDescriptor]) -> Reading {
        do throws(NamedContent.Failure) {
            var content = try source.content(atMost: PasswordNames.maximumBytes + 2, passed)
            if content.last == 0x0A { content.removeLast() }
            if content.last == 0x0D { content.removeLast() }
            guard content.count <= PasswordNames.maximumBytes else { throw .tooLarge(bytes: Int64(content.count)) }
            return .success(content)
        } catch {
            return .failure(error)
        }
    }

    /// The passwords of `credential`, `credentials` and `proxy`.
    static func all(credential: JSON?, credentials: JSON?, proxy: JSON?, at path: String) -> [PasswordNames] {
        var names: [PasswordNames?] = []
        if let credential { names.append(PasswordNames(credential["password"], at: "\(path).credential.password")) }
        if let credentials {
            for index in 0..<credentials.count {
                names.append(
                    PasswordNames(
                        credentials[index: index]?["password"], at: "\(path).credentials[\(index)].password"))
            }
        }
        if let proxy, proxy.kind == .object {
            for name in ["all", "http", "https"] as [StaticString] where proxy[name]?.kind == .object {
                names.append(PasswordNames(proxy[name]?["password"], at: "\(path).proxy.\(name).password"))
            }
        }
        return names.compactMap(\.self)
    }
}
