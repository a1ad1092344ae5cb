/// What a session wants to know of the network: whether there is a way to a host, and when that changes. All of it on the session's loop.
///
/// It explains failures, and says when it is worth trying again; it never keeps a request from being tried that does not ask for that.
public protocol Connectivity: AnyObject {
    /// The way to a host, from what the kernel knows; nothing is sent, and no name is resolved.
    /// - Parameters:
    ///   - host: as a URL has it: a name, an IPv4 address, or an IPv6 address in brackets.
    ///   - isFresh: whether devices are asked anew, for what the kernel has not told yet; else what is known is good enough.
    func path(to host: String, isFresh: Bool) -> NetworkPath

    /// Whether there is no way to the world, so that there may be none to a host; asked for every request.
    var isOffline: Bool { get }

    /// How often something was lost since the start: the way out of the machine, or one of its addresses.
    var losses: Int { get }

    /// How often anything has changed since the start.
    var changes: Int { get }

    /// Has the body called after every change, in the order in which bodies were given. The number takes it back.
    func whenChanged(_ body: @escaping () -> Void) -> Int

    /// Calls a body no more. Does nothing if the number is not known.
    func forget(change number: Int)
}
