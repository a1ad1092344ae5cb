internal import CarpoolHTTP

/// What a session knows of the protection spaces in which credentials were accepted, so that later requests with the
/// same credential authenticate at once (HA-04).
struct KnownSpaces {
    private struct Key: Equatable {
        let origin: Origin
        let credential: PasswordCredential
    }

    private enum Space {
        /// The realm, and the paths up to a slash below which it is (RFC 7617, section 2.2).
        case basic(realm: String, paths: [String])
        case digest(DigestSession)
    }

    /// The oldest first. A list, because most have one or two, and a hash reads all of both texts.
    private var spaces: [(key: Key, space: Space)] = []

    /// The most spaces; the oldest is forgotten first.
    private static let maximumCount = 16
    /// The most paths of a space.
    private static let maximumPaths = 16
    /// The most bytes of a path and of a realm; longer ones are not remembered.
    private static let maximumBytes = 1_024

    /// What authenticates a request without a challenge; `nil` if nothing is known.
    func answer(
        at origin: Origin, _ target: String, _ credential: PasswordCredential
    ) -> RequestAuthentication.Answer? {
        switch space(Key(origin: origin, credential: credential)) {
        case nil: return nil
        case .digest(let session): return .digest(session)
        case .basic(let realm, let paths):
            return paths.contains { target.hasPrefix($0) } ? .basic(credential, realm: realm) : nil
        }
    }

    /// Remembers that a credential was accepted.
    mutating func remember(_ answer: RequestAuthentication.Answer, at origin: Origin, _ target: String) {
        let key = Key(origin: origin, credential: answer.credential)
        switch answer {
        case .digest(let session): add(.digest(session), at: key)
        case .basic(_, let realm):
            let target = target.prefix { $0 != "?" }
            let path = String(target[...(target.lastIndex(of: "/") ?? target.startIndex)])
            guard path.utf8.count <= KnownSpaces.maximumBytes, realm.utf8.count <= KnownSpaces.maximumBytes else {
                return
            }
            guard case .basic(realm, var paths) = space(key) else {
                return add(.basic(realm: realm, paths: [path]), at: key)
            }
            guard !paths.contains(where: { path.hasPrefix($0) }) else { return }
            paths.removeAll { $0.hasPrefix(path) }
            if paths.count == KnownSpaces.maximumPaths { paths.removeFirst() }
            add(.basic(realm: realm, paths: paths + [path]), at: key)
        }
    }

    /// Forgets a credential wherever it was accepted.
    mutating func forget(_ credential: PasswordCredential) {
        spaces.removeAll { $0.key.credential == credential }
    }

    /// Forgets a credential that was refused, unless another nonce was accepted since.
    mutating func forget(_ answer: RequestAuthentication.Answer, at origin: Origin) {
        let key = Key(origin: origin, credential: answer.credential)
        spaces.removeAll { known in
            guard known.key == key else { return false }
            guard case .digest(let current) = known.space, case .digest(let refused) = answer else { return true }
            return current === refused
        }
    }

    private func space(_ key: Key) -> Space? { spaces.first { $0.key == key }?.space }

    private mutating func add(_ space: Space, at key: Key) {
        if let index = spaces.firstIndex(where: { $0.key == key }) {
            spaces[index].space = space
        } else {
            spaces.append((key, space))
        }
        if spaces.count > KnownSpaces.maximumCount { spaces.removeFirst() }
    }
}
