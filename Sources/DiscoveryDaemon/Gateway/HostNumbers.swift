internal import DNSSD

/// Numbers of a link's hosts: the smallest that is free, kept as long as a service has it.
struct HostNumbers {
    private var numbers: [HostName: Int] = [:]
    private var users: [HostName: Set<ServiceInstance>] = [:]
    private var hosts: [ServiceInstance: HostName] = [:]

    mutating func number(of host: HostName, for instance: ServiceInstance) -> Int {
        if hosts[instance] != host {
            release(instance)
            hosts[instance] = host
            users[host, default: []].insert(instance)
        }
        if let number = numbers[host] { return number }
        let taken = Set(numbers.values)
        let number = (1...taken.count + 1).first { !taken.contains($0) } ?? taken.count + 1
        numbers[host] = number
        return number
    }

    mutating func release(_ instance: ServiceInstance) {
        guard let host = hosts.removeValue(forKey: instance) else { return }
        users[host]?.remove(instance)
        guard users[host]?.isEmpty ?? true else { return }
        users[host] = nil
        numbers[host] = nil
    }
}
