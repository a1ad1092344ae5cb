internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The connections to the daemon that transfers share.
final class CurlDaemons {
    private let finder: DaemonFinder
    private var channels: [CurlChannel]
    /// For calls that are waited for; sessions of the command end with it.
    private var control: DaemonAccess?

    /// Connects to the daemon, which is started if none runs.
    init(socket: String?) throws(Failure) {
        finder = DaemonFinder(location: SocketLocation.resolve(option: socket))
        channels = [CurlChannel(try DaemonAccess(finder))]
    }

    /// A connection for another call.
    func channel() throws(Failure) -> CurlChannel {
        if let channel = channels.last(where: { $0.takesCalls }) { return channel }
        let channel = CurlChannel(try DaemonAccess(finder))
        channels.removeAll { $0.failure != nil }
        channels.append(channel)
        return channel
    }

    /// Adds the connections whose answers have to be waited for.
    func add(to entries: inout [pollfd]) {
        for channel in channels where channel.failure == nil {
            entries.append(pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0))
        }
    }

    /// Reads from the connections that are ready.
    func receive(_ ready: Set<Int32>) {
        for channel in channels where channel.failure == nil && ready.contains(channel.descriptor) { channel.receive() }
    }

    /// Calls a method, and waits for the answer.
    func call(_ method: String, _ params: (inout JSONWriter) -> Void) throws(Failure) -> JSON {
        if let control { return try control.call(method, params) }
        let daemon = try DaemonAccess(finder)
        control = daemon
        return try daemon.call(method, params)
    }
}
