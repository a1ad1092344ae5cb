internal import CarpoolCaller
internal import CarpoolCurl
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The options of `.netrc` files.
struct NetrcArguments: Equatable {
    /// Whether the URL's password takes precedence, and a missing file is none.
    var isOptional = false
    /// `nil` for the one in the home directory.
    var file: String?

    /// The maximum size of a file, as in curl.
    private static let maximumBytes = 131_072

    /// Reads the file and chooses the logins for the host of a URL and, if redirects are followed, for other hosts.
    func logins(for url: String, followsRedirects: Bool, isPreemptive: Bool) throws(Failure) -> NetrcLogins? {
        guard let authority = URLAuthority(url), let netrc = try read() else { return nil }
        var logins = NetrcLogins()
        // Without --netrc-optional the file decides the password, also if the URL has one.
        let usesOwn = !isOptional || authority.password == nil
        if usesOwn, let own = netrc.login(at: authority.name, user: authority.user), authority.hasPlainHost {
            logins.add(own, at: authority.host)
            if authority.user != nil { logins.url = authority.urlWithoutUser }
        }
        guard followsRedirects else { return logins }
        for name in netrc.machines where name != authority.name.lowercased() && NetrcArguments.isHost(name) {
            guard let login = netrc.login(at: name) else { continue }
            logins.addOther(login, at: name.contains(":") ? "[\(name)]" : name, isPreemptive: isPreemptive)
        }
        if let login = netrc.login(at: nil) { logins.addOther(login, at: "*", isPreemptive: isPreemptive) }
        return logins
    }

    /// Whether a name may be that of a host. Others are for other programs, and say nothing about this request.
    private static func isHost(_ name: String) -> Bool {
        let isAddress = name.contains(":")
        return !name.isEmpty && name.utf8.count <= 253 && !name.hasSuffix(".")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."): !isAddress || byte <= 0x66
                case UInt8(ascii: "_"): !isAddress
                default: isAddress && byte == UInt8(ascii: ":")
                }
            }
    }

    private func read() throws(Failure) -> Netrc? {
        guard let path = file ?? Netrc.defaultPath(.process) else {
            if isOptional { return nil }
            throw Failure(
                .usage, "there is no ~/.netrc: HOME is not set, or another user can change what is there",
                hint: "use --netrc-file FILE")
        }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try NamedPath.read(path, atMost: NetrcArguments.maximumBytes)
        } catch {
            if isOptional, error.code != ETIME { return nil }
            throw Failure(
                error.exitCode(or: .usage), "cannot read the .netrc file: \(error)",
                hint: "with --netrc-optional a missing file is none")
        }
        guard let netrc = String(validating: bytes, as: UTF8.self).flatMap(Netrc.init) else {
            if isOptional { return nil }
            throw Failure(
                .usage, "\(path) is no .netrc file: a word in quotes has no end, or the text is not UTF-8",
                hint: "write a quote inside of quotes as \\\"")
        }
        return netrc
    }
}

/// The logins of a `.netrc` file that a request brings.
struct NetrcLogins: Equatable {
    private struct Entry: Equatable {
        let host: String
        let login: Netrc.Login
    }

    private var entries: [Entry] = []
    /// The URL without its user, for whom the file has the password; `nil` to leave it as it is.
    fileprivate(set) var url: String?

    /// The most that a request may bring.
    private static let maximumCount = 64

    /// Whether there is no login for any host of the request.
    var isEmpty: Bool { entries.isEmpty }

    fileprivate mutating func add(_ login: Netrc.Login, at host: String) {
        entries.append(Entry(host: host, login: login))
    }

    /// Adds a login of another host, unless the daemon would refuse it: only a redirect could use it.
    fileprivate mutating func addOther(_ login: Netrc.Login, at host: String, isPreemptive: Bool) {
        let texts = [login.user, login.password]
        guard entries.count < NetrcLogins.maximumCount, login.user.utf8.count <= 1_024,
            login.password.utf8.count <= 4_096, !login.user.contains(":") || !isPreemptive,
            !texts.contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } })
        else { return }
        add(login, at: host)
    }

    /// Writes the parameter `credentials`.
    func write(schemes: [String]?, to writer: inout JSONWriter) {
        guard !entries.isEmpty else { return }
        writer.key("credentials")
        writer.beginArray()
        for entry in entries {
            writer.beginObject()
            writer.member("host", entry.host)
            entry.login.write(schemes: schemes, to: &writer)
            writer.endObject()
        }
        writer.endArray()
    }
}

extension Netrc.Login {
    /// Writes the members of a credential.
    func write(schemes: [String]?, to writer: inout JSONWriter) {
        writer.member("username", user)
        writer.member("password", password)
        writer.member("schemes", schemes ?? ["basic"])
        if schemes == nil { writer.member("preemptive", true) }
    }
}
