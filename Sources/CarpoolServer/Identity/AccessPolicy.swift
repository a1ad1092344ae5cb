public import CarpoolRPC

/// The methods that a client may call.
public typealias Role = Method.Role

/// The users that may connect, and their roles: decided by the credentials from the kernel, never by the socket's mode.
struct AccessPolicy: Equatable {
    /// The daemon's own user.
    let owner: UInt32
    /// Other users, as the configuration lists them.
    var roles: [UInt32: Role] = [:]

    /// The role of a user; `nil` if it has none. The daemon's own user and root may do everything.
    func role(of uid: UInt32) -> Role? {
        uid == owner || uid == 0 ? .admin : roles[uid]
    }
}
